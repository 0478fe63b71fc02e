//! Which kinds of attackers may take part, and from how many rows: what their nominal costs leave of the budget.

use crate::scorer::{Parameters, thinned};
use crate::tuning::family::Family;
use crate::tuning::model_selection::ModelSelection;
use crate::tuning::task::Task;
use crate::tuning::tried::{Failure, Tried};
use leakgauge_base::naming::setting;

/// A selection among kinds that share a budget.
pub(super) struct Contest<'a> {
    task: Task<'a>,
    selection: ModelSelection<'a>,
    /// Nominal seconds.
    spent: f64,
}

/// Rows of a secret below which thinning would teach nothing.
const MIN_ROWS: u64 = 20;

impl<'a> Contest<'a> {
    pub fn new(task: Task<'a>) -> Self {
        Contest {
            task,
            selection: ModelSelection::new(task),
            spent: 0.0,
        }
    }

    /// Who took part, and who did best.
    pub fn into_selection(self) -> ModelSelection<'a> {
        self.selection
    }

    /// Lets a family enter its attackers, from as many rows as the budget allows. They share the
    /// family's cost.
    pub fn run(&mut self, family: &dyn Family) {
        let all = self.task.fit().total();
        let least = all.min(MIN_ROWS * self.task.secrets() as u64);
        let left = self.task.budget.seconds() - self.spent;
        let share = match self.task.granted(&family.kind()) {
            Some(seconds) => seconds,
            None if self.task.is_patient() => left,
            // Half of what is left, so that one kind does not keep the others out.
            None => (left / 2.0).min(family.most_seconds()),
        };
        let wanted = family.most_rows(&self.task);
        let most = most_rows(family, &self.task, share, wanted.min(all));
        if most < least {
            let cost = family.cost(&self.task, least);
            let reason = self.too_long(family, cost);
            self.fail(family, cost, 0, Failure::Skipped(reason));
            return;
        }
        self.run_on(family, share, wanted, most);
    }

    /// Lets the cheapest family enter where all were left out for want of time, with the fewest rows that make
    /// sense, or all of them where they cost no more: a log has some answer.
    pub fn run_cheapest(&mut self, families: &[Box<dyn Family>]) {
        let task = self.task;
        let all = task.fit().total();
        let least = all.min(MIN_ROWS * task.secrets() as u64);
        let skipped = |tried: &Tried| matches!(tried.quality, Err(Failure::Skipped(_)));
        let selection = &self.selection;
        if !selection.finalists().is_empty()
            || task.is_patient()
            || !selection.tried().iter().all(skipped)
        {
            return;
        }
        // A combination has nothing to combine.
        let alone = families.iter().filter(|family| !family.names().is_empty());
        let costs = alone.map(|family| (family.cost(&task, least), family));
        if let Some((cost, family)) = costs.min_by(|x, y| x.0.total_cmp(&y.0)) {
            self.selection.forget(&family.kind());
            let wanted = family.most_rows(&task).min(all);
            let most = most_rows(&**family, &task, cost, wanted).max(least);
            self.run_on(&**family, cost, wanted, most);
        }
    }

    /// The same from so many rows, and later from as many as so many nominal seconds allow.
    fn run_on(&mut self, family: &dyn Family, share: f64, wanted: u64, most: u64) {
        let all = self.task.fit().total();
        let before = self.selection.tried().len();
        let fit = thinned(self.task.fit(), most);
        // More rows may come later, when it is learned anew: as many as would have been in the budget.
        let later = (wanted < u64::MAX || most < all)
            .then(|| most_rows(family, &self.task, share, wanted.min(u64::from(u32::MAX))));
        let cost = family.cost(&self.task, fit.total());
        self.spent += cost;
        self.selection.begin(family.kind(), later);
        if let Err(reason) = family.enter(&mut self.selection, &fit) {
            self.fail(family, cost, fit.total(), Failure::Unfit(reason));
        }
        let entered = self.selection.tried().len() - before;
        let each = significant(cost / entered.max(1) as f64);
        self.selection.end(before, each, fit.total());
    }

    /// Why a family is left out that costs so much with the fewest rows that make sense.
    fn too_long(&self, family: &dyn Family, cost: f64) -> String {
        let takes = format!("takes about {} s or more", significant(cost));
        if !self.task.is_patient() && cost > family.most_seconds() {
            let alone = setting("attacks", family.kind().name);
            return format!("{takes}: {alone} would try it");
        }
        // Half of what is left must be enough.
        let shares = if self.task.is_patient() { 1.0 } else { 2.0 };
        let budget = self.task.budget.whole(self.spent + shares * cost).ceil();
        let larger = setting("budget", format!("{budget}s"));
        format!("{takes}: {larger} would include it")
    }

    fn fail(&mut self, family: &dyn Family, cost: f64, rows: u64, failure: Failure) {
        self.selection.note(Tried {
            kind: family.kind(),
            scorer: family.kind().name.into_owned(),
            parameters: Parameters::new(),
            description: String::new(),
            quality: Err(failure),
            cost: significant(cost),
            rows,
        });
    }
}

/// The most rows, but `wanted`, that a family can learn from in so many nominal seconds; 0 if none.
fn most_rows(family: &dyn Family, task: &Task, seconds: f64, wanted: u64) -> u64 {
    if family.cost(task, wanted) <= seconds {
        return wanted;
    }
    let (mut fits, mut too_many) = (0, wanted);
    while too_many - fits > 1 {
        let middle = fits + (too_many - fits) / 2;
        if family.cost(task, middle) <= seconds {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    fits
}

/// Three significant digits.
fn significant(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}
