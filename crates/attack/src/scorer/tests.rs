use super::*;
use leakgauge_log::observations::Cell;
use leakgauge_log::{Log, ReadOptions, read_from};

fn read(csv: String) -> Log {
    // So that both tables have the same columns.
    let options = ReadOptions {
        numeric: vec!["x".to_owned(), "y".to_owned()],
        ..ReadOptions::default()
    };
    read_from("made", std::io::Cursor::new(csv), &options).expect("a good log")
}

/// Numbers and labels of three secrets.
fn rows() -> String {
    let mut csv = "secret,x,y,z,u\n".to_owned();
    for row in 0..240usize {
        let secret = row * 7 % 3;
        let x = (row * 37 % 101) as f64 / 10.0 + secret as f64;
        let (y, z) = ((row * 3 + secret) % 4, row * 5 % (3 + secret));
        csv.push_str(&format!("s{secret},{x},{},m{y},n{z}\n", row * 11 % 17));
    }
    csv
}

/// Every attacker of numbers and labels.
fn all(log: &Log) -> Vec<Arc<dyn Scorer>> {
    let (table, fit) = (&log.observations, &log.counts);
    let neighbors = |metric, transform| {
        Arc::new(Neighbors::fit_with(table, fit, metric, transform).expect("neighbors"))
    };
    let near = neighbors(Metric::Euclidean, TransformKind::Scaled);
    let codes = neighbors(Metric::Hamming, TransformKind::Scaled);
    let gaussian = |columns| {
        Gaussian::fit(table, fit, Covariance::PerSecret(5.0), columns).expect("densities")
    };
    let growth = Growth { trees: 20, leaf: 1 };
    let by_column = Frequentist::fit_by_column(table, fit).expect("columns that recur");
    let forest: Arc<dyn Scorer> = Arc::new(Forest::fit(table, fit, growth).expect("a forest"));
    let half = thinned(fit, 120);
    let member = |scorer: Arc<dyn Scorer>| Member {
        scorer,
        weight: 1.0,
        spread: 2.0,
    };
    let counts: Arc<dyn Scorer> = Arc::new(Frequentist::fit(fit));
    vec![
        counts.clone(),
        Arc::new(by_column),
        Arc::new(KNearest::new("knn", near.clone(), Rank::Fixed(3), 1.0)),
        Arc::new(KNearest::new("knn", codes.clone(), Rank::Fixed(3), 1.0)),
        Arc::new(KNearest::new("nearest", near.clone(), Rank::Fixed(1), 1.0)),
        Arc::new(Vote::new("vote", near, Rank::Fixed(9))),
        Arc::new(Vote::new("vote", codes, Rank::Fixed(9))),
        Arc::new(Linear::fit(table, fit).expect("a regression")),
        Arc::new(gaussian(Columns::Scaled)),
        Arc::new(gaussian(Columns::Ranked)),
        Arc::new(gaussian(Columns::Telling(1))),
        Arc::new(Threshold::fit(table, fit).expect("a column")),
        Arc::new(Additive::fit(table, fit, View::Columns).expect("columns")),
        Arc::new(Additive::fit(table, fit, View::Steps).expect("two columns of numbers")),
        Arc::new(Given::per_secret(vec![0, 1, 0])),
        Arc::new(Thinned::new(
            Arc::new(Forest::fit(table, &half, growth).expect("a forest")),
            120,
        )),
        Arc::new(Blend::new(vec![member(forest.clone()), member(counts)])),
        forest,
    ]
}

fn scores(scorer: &dyn Scorer, log: &Log) -> BTreeMap<String, Vec<f64>> {
    let ids: Vec<u32> = (0..log.observations.len() as u32).collect();
    let table = score_table(scorer, &log.observations, ids.clone(), log.secrets.len());
    let row = |&symbol: &u32| {
        (
            log.observations.label(symbol),
            table.row(symbol as usize).to_vec(),
        )
    };
    ids.iter().map(row).collect()
}

/// New observations and labels, before and behind the known ones, change nothing for those that were
/// there, whatever their numbers are now.
#[test]
fn what_else_is_in_the_table_makes_no_difference() {
    let learned = read(rows());
    let mut more = rows();
    for row in 0..400 {
        more.push_str(&format!(
            "s{},{}.25,{row},a{row},zz{}\n",
            row % 3,
            row % 90 - 40,
            row % 5
        ));
    }
    let later = read(more);
    let known = scores(&Given::per_secret(vec![0, 1, 0]), &learned);
    let cells = later.counts.cells().iter().copied();
    let old: Vec<Cell> = cells
        .filter(|cell| known.contains_key(&later.observations.label(cell.symbol)))
        .collect();
    let fit = Counts::new(3, old);
    assert_eq!(fit.rows(), learned.counts.rows());
    let mut portable = 0;
    for scorer in all(&learned) {
        let name = format!("{} ({})", scorer.name(), scorer.description());
        let again = scorer
            .refit(&later.observations, &fit)
            .expect("the same rows");
        assert_eq!(scorer.parameters(), again.parameters(), "{name}");
        let (before, after) = (scores(&*scorer, &learned), scores(&*again, &later));
        for (label, before) in before {
            assert_eq!(before, after[&label], "{name} of {label}");
        }
        // Of new observations too, without learning again.
        if scorer.is_portable() {
            portable += 1;
            assert_eq!(scores(&*scorer, &later), after, "{name}");
        }
        assert!(
            after.values().flatten().all(|score| score.is_finite()),
            "{name}"
        );
    }
    assert!(portable >= 4, "{portable} portable attacks");
}

/// Which columns recur is decided by the rows that are learned from, and kept.
#[test]
fn columns_on_their_own_are_those_that_were_learned() {
    let learned = read(rows());
    let scorer =
        Frequentist::fit_by_column(&learned.observations, &learned.counts).expect("columns");
    let few: Vec<Cell> = learned.counts.cells().iter().take(3).copied().collect();
    let fit = Counts::new(3, few);
    assert!(Frequentist::fit_by_column(&learned.observations, &fit).is_none());
    let again = scorer.refit(&learned.observations, &fit).expect("any rows");
    assert_eq!(scorer.parameters(), again.parameters());
    assert!(
        scores(&*again, &learned)
            .values()
            .flatten()
            .all(|score| score.is_finite())
    );
}
