//! Privacy losses on a grid: measures that bound the true one from above and from below under any composition.

use crate::extreme::Extreme;
use libm::{exp, expm1};

use super::loss::{Atom, Loss, Smooth};
use super::{FINENESS, MAX_CELLS};

/// The points `offset` + k·`step`, k whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Grid {
    pub step: f64,
    pub offset: f64,
}

impl Grid {
    /// The number k of a loss, with a fraction.
    pub fn place(&self, loss: f64) -> f64 {
        (loss - self.offset) / self.step
    }

    /// 1 − e^−step.
    fn rise(&self) -> f64 {
        -expm1(-self.step)
    }

    /// The loss of a number.
    pub fn loss(&self, multiple: i64) -> f64 {
        multiple as f64 * self.step + self.offset
    }
}

/// A measure of the privacy loss under P on a grid.
#[derive(Debug, Clone)]
pub(super) struct Measure {
    pub grid: Grid,
    /// The number of the first entry of `masses`.
    pub first: i64,
    pub masses: Vec<f64>,
    /// The mass at infinite loss.
    pub infinite: f64,
    /// The mass that is left out because its loss is below all others.
    pub dropped: f64,
}

/// Tails of a step with less mass than this are cut.
const TAIL: f64 = 1e-36;
/// Losses nearer to a multiple of the step, in steps, are that multiple.
pub(super) const ON_GRID: f64 = 1e-9;
/// By how much of a step rounding can change the loss of a cell of the part with a density.
pub(super) const ROUNDING: f64 = 1e-6;
/// Cells of the lower measure end between these parts of a step, or are set back to its middle.
const BALANCED: std::ops::Range<f64> = 0.1..0.9;

impl Measure {
    fn empty(loss: &Loss, grid: Grid) -> Measure {
        let (low, high) = loss.support();
        let (first, last) = (
            grid.place(low).floor() as i64 - 2,
            grid.place(high).ceil() as i64 + 2,
        );
        Measure {
            grid,
            first,
            masses: vec![0.0; (last - first + 1) as usize],
            infinite: 0.0,
            dropped: 0.0,
        }
    }

    /// A distribution of finitely many values on multiples of a step, which keeps the mean: no mean of a convex
    /// function of sums is smaller.
    pub fn spread_out(law: &[(f64, f64)], step: f64) -> Measure {
        let grid = Grid { step, offset: 0.0 };
        let values = law.iter().map(|(value, _)| grid.place(*value));
        let (low, high) = values.fold((0.0f64, 0.0f64), |(low, high), x| {
            (low.at_most(x), high.at_least(x))
        });
        let first = low.floor() as i64 - 1;
        let mut measure = Measure {
            grid,
            first,
            masses: vec![0.0; (high.ceil() as i64 + 2 - first) as usize],
            infinite: 0.0,
            dropped: 0.0,
        };
        for &(value, mass) in law {
            let place = grid.place(value);
            let up = mass * (place - place.floor());
            measure.add(place.floor() as i64, mass - up);
            measure.add(place.floor() as i64 + 1, up);
        }
        measure
    }

    pub fn add(&mut self, multiple: i64, mass: f64) {
        let last = self.masses.len() as i64 - 1;
        self.masses[(multiple - self.first).clamp(0, last) as usize] += mass;
    }

    /// The mass between two neighboring multiples as masses at both that keep P and Q ("connect the dots"). The
    /// hockey-stick divergence of the result is the chord of the true one between the multiples.
    fn split(&mut self, multiple: i64, (p, q): (f64, f64), rise: f64) {
        let low = self.grid.loss(multiple);
        let up = if low > 600.0 {
            p
        } else {
            ((p - exp(low) * q) / rise).clamp(0.0, p)
        };
        self.add(multiple, p - up);
        self.add(multiple + 1, up);
    }

    /// A measure of which every δ of every composition is at least the true one.
    ///
    /// # References
    /// V. Doroshenko, B. Ghazi, P. Kamath, R. Kumar, P. Manurangsi, *Connect the dots: tighter discrete approximations
    /// of privacy loss distributions*, doi:10.56553/popets-2022-0122.
    pub fn above(loss: &Loss, grid: Grid) -> Measure {
        let mut measure = Self::empty(loss, grid);
        measure.infinite += loss.cut.0;
        let rise = grid.rise();
        let mut raised = 0.0;
        for atom in loss.atoms.iter().filter(|atom| atom.p > 0.0) {
            let told = atom.loss();
            if told == f64::INFINITY {
                measure.infinite += atom.p;
            } else {
                let place = grid.place(told);
                if (place - place.round()).abs() <= ON_GRID {
                    measure.add(place.round() as i64, atom.p);
                    raised = (told - grid.loss(place.round() as i64)).at_least(raised);
                } else if !atom.has_digits() {
                    measure.add(place.ceil() as i64, atom.p);
                } else {
                    measure.split(place.floor() as i64, (atom.p, atom.q), rise);
                }
            }
        }
        if let Some(smooth) = &loss.smooth {
            let (low, high) = smooth.cells(grid);
            let mut from = (smooth.mark)(grid.loss(low));
            for multiple in low..high {
                let to = (smooth.mark)(grid.loss(multiple + 1));
                measure.split(multiple, (smooth.masses)(&from, &to), rise);
                from = to;
            }
            let ends = [low, high].map(|multiple| grid.loss(multiple));
            measure.add(low, smooth.between(f64::NEG_INFINITY, ends[0]).0);
            // Much may be so near to the largest loss that rounding puts it beyond.
            let beyond = smooth.between(ends[1], f64::INFINITY).0;
            if smooth.ends.1 <= grid.loss(high + 1) {
                measure.add(high + 1, beyond);
            } else {
                measure.infinite += beyond;
            }
            raised = ROUNDING * grid.step;
        }
        measure.grid.offset += raised;
        measure
    }

    /// A measure of which every δ of every composition is at most the true one.
    ///
    /// # Formula
    /// Observations are merged, which no δ survives larger, and merged losses are rounded down, which lowers
    /// E_P\[(1 − e^(ε − L))⁺\]. Cells of the part with a density are chosen one after the other so that their merged
    /// loss is a multiple of the step and nothing is left to round.
    pub fn below(loss: &Loss, grid: Grid) -> Measure {
        let loss = loss.attained.as_deref().unwrap_or(loss);
        let mut measure = Self::empty(loss, grid);
        measure.dropped += loss.cut.0;
        let mut lowered = match loss.are_dense {
            true => measure.add_fused(&loss.atoms),
            false => measure.add_merged(&loss.atoms),
        };
        if let Some(smooth) = &loss.smooth {
            let raised = measure.add_cells(smooth);
            lowered = lowered.at_least(raised) + ROUNDING * grid.step;
        }
        measure.grid.offset -= lowered;
        measure
    }

    /// Adds atoms, and tells by how much the loss of one was raised that is on the grid up to rounding.
    fn add_merged(&mut self, atoms: &[Atom]) -> f64 {
        let mut raised = 0.0;
        let mut merged: hashbrown::HashMap<i64, Atom> = hashbrown::HashMap::new();
        for atom in atoms.iter().filter(|atom| atom.p > 0.0) {
            let told = atom.loss();
            if told == f64::INFINITY {
                self.infinite += atom.p;
                continue;
            }
            let place = self.grid.place(told);
            if (place - place.round()).abs() <= ON_GRID {
                self.add(place.round() as i64, atom.p);
                raised = (self.grid.loss(place.round() as i64) - told).at_least(raised);
            } else if !atom.has_digits() {
                self.add(place.floor() as i64, atom.p);
            } else {
                let cell = merged
                    .entry(place.round() as i64)
                    .or_insert(Atom::new(0.0, 0.0));
                cell.p += atom.p;
                cell.q += atom.q;
            }
        }
        let mut cells: Vec<Atom> = merged.into_values().collect();
        cells.sort_by(|a, b| b.loss().total_cmp(&a.loss()));
        raised.at_least(self.add_lowered(&cells))
    }

    /// Adds atoms, the largest loss first, each with as much of the next ones as brings its loss down to the grid.
    ///
    /// # Formula
    /// Of an atom A with the loss L, down to the multiple g below, and the next atom B: with the part x = q_A(e^(L − g) −
    /// 1)/(q_B(1 − e^(L_B − g))) of B merged into A, ln p/q is g. That lowers the mean by about L − g times half of the
    /// distance of B; to round A down would lower it by L − g, which adds up over many steps.
    fn add_lowered(&mut self, cells: &[Atom]) -> f64 {
        let mut raised = 0.0;
        let mut rest: Vec<f64> = vec![1.0; cells.len()];
        let mut next = 0;
        for at in 0..cells.len() {
            if rest[at] == 0.0 {
                continue;
            }
            let (mut p, mut q) = (rest[at] * cells[at].p, rest[at] * cells[at].q);
            let mut told = cells[at].loss();
            let down = (self.grid.place(told) + ON_GRID).floor() as i64;
            let low = self.grid.loss(down);
            next = next.max(at + 1);
            while next < cells.len() && told > low {
                let other = &cells[next];
                let apart = -expm1(other.loss() - low);
                // All of an atom on the same side of the multiple goes along.
                let wanted = match apart > 0.0 {
                    true => q * expm1(told - low) / (other.q * apart),
                    false => rest[next],
                };
                let part = match wanted < rest[next] {
                    true => wanted,
                    false => rest[next],
                };
                p += part * other.p;
                q += part * other.q;
                rest[next] -= part;
                if rest[next] > 0.0 {
                    told = low;
                    break;
                }
                next += 1;
                told = Atom::new(p, q).loss().at_least(low);
            }
            self.add(down, p);
            let rounding = ON_GRID * self.grid.step + 4.0 * f64::EPSILON * told.abs();
            raised = (low - told + rounding).at_least(raised);
        }
        raised
    }

    fn add_cells(&mut self, smooth: &Smooth) -> f64 {
        let (grid, step) = (self.grid, self.grid.step);
        let cells = Cells::of(smooth, grid);
        let mut pieces = Vec::new();
        let mut from = grid.loss(cells.first) - cells.half * step;
        // Nothing is below the first cell but the tail, and rounding of an end of the support.
        let mut begin = from - cells.before * step;
        self.dropped += smooth.between(f64::NEG_INFINITY, begin).0;
        for multiple in (cells.first..=cells.last).step_by(cells.stride) {
            let center = grid.loss(multiple);
            if center > 600.0 {
                break;
            }
            let scale = exp(center);
            // Not below 0 if the loss of all between `from` and `to` is at least the center.
            let marked = (smooth.mark)(begin);
            let gain = |to: f64| {
                let (p, q) = (smooth.masses)(&marked, &(smooth.mark)(to));
                (p, p - scale * q, q)
            };
            let near = |told: (f64, f64, f64)| told.1.abs() <= ROUNDING * step * told.0;
            let mut to = 2.0 * center - from;
            let mut told = gain(to);
            for _ in 0..4 {
                if near(told) {
                    break;
                }
                // The derivative of the gain is nearly the density times the distance to the center.
                let slope = told.0 / (to - from) * (to - center);
                let (least, most) = (1e-3 * step, 2.0 * cells.half * step);
                to = (to - told.1 / slope).clamp(center + least, center + most);
                told = gain(to);
            }
            let reach = (to - center) / (2.0 * cells.half * step);
            if !BALANCED.contains(&reach) || !near(told) {
                to = center + cells.half * step;
                told = gain(to);
            }
            let (p, gained, q) = told;
            let told_on_grid = near(told).then_some(center);
            match Atom::of_cell((p, q), told_on_grid, step).filter(|cell| cell.loss() >= from) {
                Some(cell) => pieces.push(cell),
                None => {
                    // Digits are lost: the loss is at least that of the begin of the cell.
                    let lowered = if gained < 0.0 { cells.stride } else { 0 };
                    self.add(multiple - lowered as i64, p);
                }
            }
            (from, begin) = (to, to);
        }
        let rest = smooth.between(from, f64::INFINITY);
        match Atom::of_cell(rest, None, step).filter(|cell| cell.loss() >= from) {
            Some(cell) => pieces.push(cell),
            None => self.add((grid.place(from) - 0.5).floor() as i64, rest.0),
        }
        pieces.reverse();
        self.add_lowered(&pieces)
    }
}

/// What may be wrong with masses of cells, which are differences of numbers up to 1.
const OF_MASSES: f64 = 4e-16;

impl Atom {
    /// A cell with a loss that is known, or with one that is no larger than that of its masses, whatever rounding did to
    /// them; `None` where that would take a step.
    fn of_cell((p, q): (f64, f64), known: Option<f64>, step: f64) -> Option<Atom> {
        let cell = Atom { p, q, known };
        if known.is_some() && cell.has_digits() {
            return Some(cell);
        }
        let wrong = OF_MASSES * (1.0 / p + 1.0 / q);
        let lowered = Atom::new(p, q).loss() - wrong;
        let is_told = cell.has_digits() && wrong < step && lowered.is_finite();
        is_told.then_some(Atom {
            p,
            q,
            known: Some(lowered),
        })
    }
}

/// The cells whose merged losses are multiples of the step.
struct Cells {
    first: i64,
    last: i64,
    /// From one multiple to the next, and from a multiple to the end of its cell, in steps.
    stride: usize,
    half: f64,
    /// How far before the first cell masses are looked for, in steps.
    before: f64,
}

impl Cells {
    /// One cell around each multiple. Where both ends of the losses are multiples, a cell around an end would have one half
    /// only, and losing a part of the step there adds up over many steps: cells of two steps around every other multiple
    /// begin and end with the losses.
    fn of(smooth: &Smooth, grid: Grid) -> Cells {
        let ends = [smooth.ends.0, smooth.ends.1].map(|end| grid.place(end));
        let whole = ends.map(f64::round);
        let is_whole = |at: usize| (ends[at] - whole[at]).abs() <= ROUNDING;
        let even = (whole[1] - whole[0]) % 2.0 == 0.0 && whole[1] > whole[0];
        if is_whole(0) && is_whole(1) && even {
            return Cells {
                first: whole[0] as i64 + 1,
                last: whole[1] as i64 - 1,
                stride: 2,
                half: 1.0,
                before: 0.5,
            };
        }
        let (first, last) = smooth.cells(grid);
        Cells {
            first,
            last,
            stride: 1,
            half: 0.5,
            before: 0.0,
        }
    }
}

impl Smooth {
    /// The numbers of a grid between which all but the tails lies.
    fn cells(&self, grid: Grid) -> (i64, i64) {
        let (low, high) = self.support();
        (
            grid.place(low).floor() as i64,
            grid.place(high).ceil() as i64,
        )
    }

    /// The losses between which all but tails of [`TAIL`] lies.
    fn support(&self) -> (f64, f64) {
        let (least, most) = self.ends;
        let above = |x: f64| self.between(x, f64::INFINITY).0;
        let below = |x: f64| self.between(f64::NEG_INFINITY, x).0;
        let high = if most.is_finite() {
            most
        } else {
            edge(1.0, above)
        };
        let low = if least.is_finite() {
            least
        } else {
            edge(-1.0, below)
        };
        (low, high)
    }
}

impl Loss {
    /// The mean of the finite losses of atoms.
    fn mean(&self) -> f64 {
        let possible = self.atoms.iter().filter(|atom| atom.p > 0.0);
        let each = possible.map(|atom| (atom.p, atom.loss()));
        let finite = each.filter(|(_, loss)| loss.is_finite());
        finite.map(|(p, loss)| p * loss).sum()
    }

    /// The smallest and the largest finite loss of atoms, if there are some.
    fn outermost(&self) -> Option<(f64, f64)> {
        let losses = self.atoms.iter().map(Atom::loss);
        let losses = losses.filter(|loss| loss.is_finite());
        let most = losses.clone().fold(f64::NEG_INFINITY, f64::at_least);
        let least = losses.fold(f64::INFINITY, f64::at_most);
        (least != f64::INFINITY).then_some((least, most))
    }

    /// The smallest and the largest finite loss, up to tails.
    pub fn support(&self) -> (f64, f64) {
        let atoms = self
            .atoms
            .iter()
            .map(Atom::loss)
            .filter(|loss| loss.is_finite());
        let (low, high) = atoms.fold((0.0f64, 0.0f64), |(low, high), loss| {
            (low.at_most(loss), high.at_least(loss))
        });
        self.smooth.as_ref().map_or((low, high), |smooth| {
            let (from, to) = smooth.support();
            (low.at_most(from), high.at_least(to))
        })
    }
}

/// The step of a grid is no smaller part of the mean of atoms: where one loss is all but certain, sums of losses need
/// not be told apart by the tiny variance.
const PART: f64 = 3e-5;

/// The square of the step over the variance of a step of a mechanism that is applied so many times, where that variance
/// is as it is.
///
/// # Formula
/// A step h moves the mean of a sum of T losses by about T·h²/12, and sums have T·V as their variance W. That counts for a
/// part of at most √W·h²/(12V)·z of a δ that is z standard deviations out, so that h²/V may be a small part of 1/√W; and
/// cells of a sum are as many as √T·√(V/h²).
fn fineness(loss: &Loss, steps: u64, variance: f64) -> f64 {
    /// What is still a small part, and the part for one step with which cells stay below half a million.
    const SMALL: f64 = 2e-3;
    const PER_STEP: f64 = 8e-10;
    // Atoms that are off the grid are moved by more.
    if loss.smooth.is_none() {
        return FINENESS;
    }
    let steps = steps as f64;
    let most = SMALL / (1.0 + (steps * variance).sqrt());
    (PER_STEP * steps).at_most(most).at_least(FINENESS)
}

/// The grid for a loss, of which so many are summed.
pub(super) fn grid(loss: &Loss, steps: u64) -> Grid {
    if let Some(grid) = loss.lattice() {
        return grid;
    }
    let (low, high) = loss.support();
    let finest = (high - low).at_least(1e-12) / MAX_CELLS;
    let mut step = finest * MAX_CELLS / 4096.0;
    let variance = |step: f64| Measure::above(loss, Grid { step, offset: 0.0 }).moments().1;
    let mut found = variance(step);
    // A grid moves each loss by a step at most. So where the variance is below 10 steps² and 60 of the finest steps are
    // one, the variance on no finer grid is above 27 steps², which asks for less than the finest step.
    while found < 10.0 * step * step && step > 60.0 * finest {
        step /= 8.0;
        found = variance(step);
    }
    let wanted = fineness(loss, steps, found) * found;
    let mut wanted = wanted.sqrt().at_least(finest);
    if loss.smooth.is_none() {
        wanted = wanted.at_least(PART * loss.mean().abs());
    }
    // The outermost atoms are on the grid.
    let Some((offset, most)) = loss.outermost() else {
        return Grid {
            step: wanted,
            offset: 0.0,
        };
    };
    let step = if most - offset > wanted {
        // An even number of steps, which cells of two steps need.
        (most - offset) / (2.0 * (0.5 * (most - offset) / wanted).ceil())
    } else {
        wanted
    };
    Grid { step, offset }
}

/// Grids with one step for losses that are composed, each so many times.
///
/// # Formula
/// With V the variance of all T steps together: as of one loss the square of the step is [`FINENESS`]·V/T. Atoms off the
/// grid are rounded, of n of them by n/2 steps on the whole: the step is at most √V/1000 for all of them. The outermost
/// atoms of the loss with most steps are on its grid, whatever the step is about.
pub(super) fn common_grids<'l>(losses: &[(&'l Loss, u64)]) -> Vec<(&'l Loss, Grid, u64)> {
    /// Cells of a window of all steps together at most, and how many standard deviations it has.
    const WINDOW: f64 = (1 << 22) as f64;
    const WIDE: f64 = 14.0;
    let of = |(loss, steps): &(&Loss, u64)| {
        let variance = Measure::above(loss, grid(loss, *steps)).moments().1;
        // Where all losses are infinite there is none.
        let variance = if variance.is_finite() { variance } else { 0.0 };
        (*steps as f64 * variance, *steps as f64)
    };
    let (variance, times) = losses
        .iter()
        .map(of)
        .fold((0.0, 0.0), |all, next| (all.0 + next.0, all.1 + next.1));
    let deviation = variance.sqrt();
    let width = |loss: &Loss| {
        let (low, high) = loss.support();
        high - low
    };
    let widest = losses
        .iter()
        .map(|(loss, _)| width(loss))
        .fold(1e-12, f64::at_least);
    let with_atoms = || losses.iter().filter(|(loss, _)| loss.outermost().is_some());
    let aligned = with_atoms().max_by_key(|(_, steps)| *steps);
    let rounded: u64 = with_atoms().map(|(_, steps)| *steps).sum();
    let rounded = rounded - aligned.map_or(0, |(_, steps)| *steps);
    let mut step = (FINENESS * variance / times).sqrt();
    if rounded > 0 {
        step = step.at_most(1e-3 * deviation / rounded as f64);
    }
    step = step
        .at_least(WIDE * deviation / WINDOW)
        .at_least(widest / MAX_CELLS);
    let span = aligned.and_then(|(loss, _)| {
        let (low, high) = loss.outermost()?;
        Some(loss.lattice().map_or(high - low, |lattice| lattice.step))
    });
    // A lattice that is finer than the step would have too many cells.
    if let Some(span) = span.filter(|span| *span >= step) {
        step = span / (span / step).ceil();
    }
    let grid_of = |loss: &Loss| Grid {
        step,
        offset: loss.outermost().map_or(0.0, |ends| ends.0),
    };
    losses
        .iter()
        .map(|(loss, steps)| (*loss, grid_of(loss), *steps))
        .collect()
}

/// The number, in the direction of `sign`, beyond which a tail holds at most [`TAIL`].
fn edge(sign: f64, tail: impl Fn(f64) -> f64) -> f64 {
    let mut far = 1e-6;
    while tail(sign * far) > TAIL && far < 1e6 {
        far *= 2.0;
    }
    let mut near = 0.5 * far;
    for _ in 0..30 {
        let middle = 0.5 * (near + far);
        if tail(sign * middle) > TAIL {
            near = middle;
        } else {
            far = middle;
        }
    }
    sign * far
}
