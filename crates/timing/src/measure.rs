//! Measuring: complete random blocks, with inputs made outside of the timed part.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::clock::{Clock, Facts};
use crate::judge::{Judge, Question};
use crate::random::Random;

/// A batch takes at least so many steps of the clock,
const LEAST_STEPS: f64 = 50.0;
/// and so many times as long as reading the clock.
const LEAST_READINGS: f64 = 10.0;
/// Two steps of the clock, shared by the calls of a batch, are at most this part of the threshold.
const PART_OF_THRESHOLD: f64 = 0.25;
/// Batches of more calls are not made so long that fewer blocks than this fit into the time limit,
const LEAST_BLOCKS: f64 = 4096.0;
/// nor longer than this, in ns.
const LONGEST_BATCH: f64 = 10e6;
const MOST_CALLS: usize = 16_384;
/// Inputs that wait for their call take no more memory than this, as far as their own size goes.
const MOST_BYTES: usize = 64 << 20;

/// Makes an input of a class.
pub(crate) type Maker<'a, I> = Box<dyn FnMut() -> I + 'a>;

/// What to measure, and when to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) threshold: f64,
    pub(crate) alarm: f64,
    pub(crate) pass: f64,
    pub(crate) time_limit: Duration,
    pub(crate) most_blocks: usize,
}

/// What was measured.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) judge: Judge,
    pub(crate) clock: Facts,
    /// A time is the mean of so many calls.
    pub(crate) calls: usize,
    /// The class of each time, in the order in which they were taken.
    pub(crate) order: Vec<u8>,
    /// Times that ended before they began.
    pub(crate) backwards: usize,
    pub(crate) elapsed: Duration,
    /// Whether the clock ran as that of the system did. Otherwise no time has a length.
    pub(crate) agrees: bool,
}

/// Measures until all is decided, or the budget is spent.
pub(crate) fn measure<I, O>(
    clock: &impl Clock,
    makers: &mut [Maker<'_, I>],
    run: &mut impl FnMut(&mut I) -> O,
    mut random: Random,
    plan: &Plan,
) -> Measured {
    let begun = Instant::now();
    let facts = clock.facts();
    let paired = clock.paired();
    let mut bench = Bench {
        clock,
        makers,
        run,
        inputs: Vec::new(),
        outputs: Vec::new(),
        ticks: Vec::new(),
        order: Vec::new(),
    };
    // Of its own: how many orders the warm-up draws depends on how fast it is.
    let mut warm_up = Random::new(random.next());
    let calls = bench.calibrate(&facts, &mut warm_up, plan);
    let question = Question {
        threshold: plan.threshold,
        blur: 2.0 * facts.step_nanoseconds() / calls as f64,
        alarm: plan.alarm,
        pass: plan.pass,
    };
    let classes = bench.makers.len();
    let mut judge = Judge::new(classes, question);
    let mut order = Vec::new();
    let mut backwards = 0;
    let scale = facts.nanoseconds_per_tick / calls as f64;
    let mut block = vec![0.0; classes];
    while judge.blocks() < plan.most_blocks && begun.elapsed() < plan.time_limit {
        bench.block(calls, &mut random);
        for (&class, &ticks) in bench.order.iter().zip(&bench.ticks) {
            backwards += usize::from(ticks < 0);
            block[class] = ticks as f64 * scale;
            order.push(class as u8);
        }
        if judge.push(&block) {
            break;
        }
    }
    Measured {
        judge,
        clock: facts,
        calls,
        order,
        backwards,
        elapsed: begun.elapsed(),
        agrees: clock.agrees(&paired).unwrap_or(true),
    }
}

struct Bench<'b, 'a, I, O, C, F> {
    clock: &'b C,
    makers: &'b mut [Maker<'a, I>],
    run: &'b mut F,
    /// Of one batch after the other, first those of the call that is not timed.
    inputs: Vec<I>,
    outputs: Vec<O>,
    /// Of the last block, in the order in which they were taken.
    ticks: Vec<i64>,
    order: Vec<usize>,
}

impl<I, O, C: Clock, F: FnMut(&mut I) -> O> Bench<'_, '_, I, O, C, F> {
    /// Times every class once, in random order.
    ///
    /// All inputs are made first, so that no class is timed right after its own inputs were made. Their places in
    /// memory follow the order of the calls, which is random: no class has places of its own. A batch that is not
    /// timed, of a class drawn at random, meets what the making of inputs left in the caches.
    fn block(&mut self, calls: usize, random: &mut Random) {
        self.order.clear();
        self.order.extend(0..self.makers.len());
        random.shuffle(&mut self.order);
        let untimed = random.below(self.makers.len());
        self.inputs.clear();
        for &class in std::iter::once(&untimed).chain(&self.order) {
            let maker = &mut self.makers[class];
            self.inputs.extend((0..calls).map(|_| maker()));
        }
        self.ticks.clear();
        for batch in self.inputs.chunks_exact_mut(calls) {
            self.outputs.reserve(calls);
            let ticks = timed(self.clock, self.run, batch, &mut self.outputs);
            self.outputs.clear();
            self.ticks.push(ticks);
        }
        self.ticks.remove(0);
    }

    /// How many calls make a batch, and a warm-up: no row of it is judged.
    fn calibrate(&mut self, facts: &Facts, random: &mut Random, plan: &Plan) -> usize {
        let budget = plan.time_limit / 20;
        let begun = Instant::now();
        let step = facts.step_ticks;
        let wanted = (LEAST_STEPS * step).max(LEAST_READINGS * facts.reading_ticks);
        let batches = LEAST_BLOCKS * (self.makers.len() + 1) as f64;
        let longest = LONGEST_BATCH.min(plan.time_limit.as_nanos() as f64 / batches);
        let longest = longest / facts.nanoseconds_per_tick;
        let fit = MOST_BYTES / (size_of::<I>().max(1) * (self.makers.len() + 1));
        let most = fit.clamp(1, MOST_CALLS);
        let mut calls = 1;
        // The time of a call, by batches that are long enough to tell.
        let call = loop {
            let mut all = Vec::new();
            while all.len() < 20 && (all.is_empty() || begun.elapsed() < budget) {
                self.block(calls, random);
                all.extend_from_slice(&self.ticks);
            }
            all.sort_unstable();
            let batch = all[all.len() / 2].max(0) as f64;
            if batch >= wanted || 2 * calls > most || begun.elapsed() >= budget {
                break (batch - facts.reading_ticks).max(batch / 2.0) / calls as f64;
            }
            calls *= 2;
        };
        let for_time = wanted / call.max(1e-3);
        let for_threshold = if plan.threshold > 0.0 {
            2.0 * facts.step_nanoseconds() / (PART_OF_THRESHOLD * plan.threshold)
        } else {
            1.0
        };
        let not_longer = (longest / call.max(1e-3)).max(1.0);
        let calls = for_time.max(for_threshold).min(not_longer).ceil() as usize;
        let calls = calls.clamp(1, most);
        // Caches, branch predictors and the clock of the processor.
        let mut blocks = 0;
        while blocks < 1 || blocks < 1000 && begun.elapsed() < budget {
            self.block(calls, random);
            blocks += 1;
        }
        calls
    }
}

/// Ticks that a batch takes. One function that is not copied into its callers: all batches run the same instructions.
#[inline(never)]
fn timed<I, O>(
    clock: &impl Clock,
    run: &mut impl FnMut(&mut I) -> O,
    inputs: &mut [I],
    outputs: &mut Vec<O>,
) -> i64 {
    let begun = clock.now();
    for input in inputs {
        // Neither input nor output is known to the compiler, so the call is made. Outputs are dropped later.
        outputs.push(black_box(run(black_box(input))));
        // The next call of a batch waits for the end of this one: an attacker sees single calls, and processors that do
        // parts of several calls at once hide how long each of them takes.
        clock.fence();
    }
    let ended = clock.now();
    // A counter may wrap around; one that went backwards gives a negative time.
    ended.wrapping_sub(begun) as i64
}

#[cfg(test)]
mod tests;
