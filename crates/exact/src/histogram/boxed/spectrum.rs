//! The characteristic function of a histogram on a grid of frequencies, and its transforms.

use crate::extreme::Extreme;
use std::f64::consts::TAU;
use std::ops::Range;
use std::sync::Arc;

use libm::{exp, expm1, log};

use leakgauge_base::parallel;
use leakgauge_fourier::{Complex, ComplexToReal, Fft, Planner};

/// The number of lines that are transformed together.
const TOGETHER: usize = 64;
/// Values below e^−50 are left out.
const NEGLIGIBLE: f64 = 50.0;
/// Half of the distance from 1 to the next number.
const UNIT: f64 = 0.5 * f64::EPSILON;

type Value = Complex<f64>;

/// The values that are not negligible: of a sum of many messages, those at a few of the lowest frequencies.
///
/// A plane has all frequencies of all sides but the first, of the last side only the first half.
#[derive(Debug, Clone)]
pub(super) struct Spectrum {
    lengths: Vec<usize>,
    /// The places in a plane that are not negligible at every frequency of the first side.
    columns: Vec<usize>,
    /// For each of them, all values along the first side, transformed.
    cells: Vec<Value>,
    /// The transforms along the sides between the first and the last, the last of them first.
    stages: Vec<Stage>,
    /// The lines along the last side that are not 0.
    lines: Vec<usize>,
    /// By how much all probabilities together may be wrong because of rounding and of what is left out.
    pub rounding: f64,
}

/// The transform of a plane along one side.
#[derive(Debug, Clone)]
struct Stage {
    length: usize,
    stride: usize,
    /// Where lines start that are not 0.
    starts: Vec<usize>,
}

impl Spectrum {
    /// Of groups of (distribution, number of messages), for sides of (smallest count, number of counts), at least two
    /// of them.
    pub fn new(groups: &[(&[f64], u64)], sides: &[(u64, usize)]) -> Spectrum {
        let lengths: Vec<usize> = sides.iter().map(|(_, length)| *length).collect();
        let form = Form::new(groups, sides);
        let planes = parallel::map(lengths[0], |first| form.plane(first));
        let mut error = ErrorBound::default();
        planes.iter().for_each(|plane| error.add(&plane.error));
        let half = form.half();
        let size = form.lines() * half;
        let mut occupied = vec![false; size];
        for (place, _) in planes.iter().flat_map(|plane| &plane.values) {
            occupied[*place as usize] = true;
        }
        let columns = places_of(&occupied);
        let cells = along_first_side(&planes, &columns);
        let mut stages = Vec::new();
        let mut stride = half;
        for &length in lengths[1..lengths.len() - 1].iter().rev() {
            let stage = Stage::new(&mut occupied, length, stride);
            stages.push(stage);
            stride *= length;
        }
        let lines = occupied.chunks(half).map(|line| line.contains(&true));
        let lines = places_of(&lines.collect::<Vec<bool>>());
        Spectrum {
            rounding: error.of_all(&lengths),
            lengths,
            columns,
            cells,
            stages,
            lines,
        }
    }

    /// What transforms planes.
    pub fn transforms(&self) -> Transforms {
        let mut planner = Planner::new();
        let stages = self.stages.iter();
        Transforms {
            stages: stages.map(|stage| planner.inverse(stage.length)).collect(),
            last: planner.real_inverse(self.lengths[self.lengths.len() - 1]),
        }
    }

    /// The probabilities of all cells whose first count has one of these positions.
    pub fn slabs(&self, positions: Range<usize>, transforms: &Transforms) -> Vec<Vec<f64>> {
        let length = self.lengths[self.lengths.len() - 1];
        let half = length / 2 + 1;
        let inner: usize = self.lengths[1..self.lengths.len() - 1].iter().product();
        let all: f64 = self.lengths.iter().map(|length| *length as f64).product();
        let share = 1.0 / all;
        let mut plane = vec![Value::default(); inner * half];
        let mut scratch = transforms.last.make_scratch_vec();
        let mut slab = |first: usize| {
            plane.fill(Value::default());
            let along_first = self.cells.chunks(self.lengths[0]);
            for (place, values) in self.columns.iter().zip(along_first) {
                plane[*place] = values[first];
            }
            for (stage, plan) in self.stages.iter().zip(&transforms.stages) {
                stage.transform(&mut plane, &**plan);
            }
            let mut slab = vec![0.0; inner * length];
            for &line in &self.lines {
                let spectrum = &mut plane[line * half..(line + 1) * half];
                // Both are real up to rounding; the transform refuses anything else.
                spectrum[0].im = 0.0;
                spectrum[half - 1].im = 0.0;
                let out = &mut slab[line * length..(line + 1) * length];
                let last = &transforms.last;
                last.process_with_scratch(spectrum, out, &mut scratch)
                    .expect("lengths of the plan");
                out.iter_mut().for_each(|p| *p = (*p * share).at_least(0.0));
            }
            slab
        };
        positions.map(&mut slab).collect()
    }
}

/// The transforms of planes: along the sides between the first and the last, and along the last.
pub(super) struct Transforms {
    stages: Vec<Arc<dyn Fft<f64>>>,
    last: Arc<dyn ComplexToReal<f64>>,
}

fn places_of(marked: &[bool]) -> Vec<usize> {
    let places = marked.iter().enumerate();
    places.filter(|(_, is)| **is).map(|(at, _)| at).collect()
}

/// The values at these places of all planes, transformed along the first side.
fn along_first_side(planes: &[Plane], columns: &[usize]) -> Vec<Value> {
    let length = planes.len();
    let mut cells = vec![Value::default(); columns.len() * length];
    for (first, plane) in planes.iter().enumerate() {
        let mut column = 0;
        for (place, value) in &plane.values {
            while columns[column] != *place as usize {
                column += 1;
            }
            cells[column * length + first] = *value;
        }
    }
    let plan = Planner::new().inverse(length);
    parallel::for_each_row(&mut cells, TOGETHER * length, &|_, columns| {
        plan.process(columns);
    });
    cells
}

impl Stage {
    /// Marks what is not 0 after the transform.
    fn new(occupied: &mut [bool], length: usize, stride: usize) -> Stage {
        let mut starts: Vec<usize> = Vec::new();
        let block = length * stride;
        for from in (0..occupied.len()).step_by(block) {
            let line = |column: usize| (0..length).map(move |at| from + column + at * stride);
            for column in 0..stride {
                if line(column).any(|place| occupied[place]) {
                    line(column).for_each(|place| occupied[place] = true);
                    starts.push(from + column);
                }
            }
        }
        Stage {
            length,
            stride,
            starts,
        }
    }

    fn transform(&self, plane: &mut [Value], plan: &dyn Fft<f64>) {
        let mut lines = vec![Value::default(); TOGETHER * self.length];
        let mut scratch = vec![Value::default(); plan.get_inplace_scratch_len()];
        for starts in self.starts.chunks(TOGETHER) {
            for at in 0..self.length {
                for (c, start) in starts.iter().enumerate() {
                    lines[c * self.length + at] = plane[start + at * self.stride];
                }
            }
            plan.process_with_scratch(&mut lines[..starts.len() * self.length], &mut scratch);
            for at in 0..self.length {
                for (c, start) in starts.iter().enumerate() {
                    plane[start + at * self.stride] = lines[c * self.length + at];
                }
            }
        }
    }
}

/// The values of a plane that are not negligible, by place.
struct Plane {
    values: Vec<(u32, Value)>,
    error: ErrorBound,
}

/// Squares of the sizes of values, and of what may be wrong in them, over half of all frequencies.
#[derive(Default)]
struct ErrorBound {
    sizes: f64,
    wrong: f64,
}

impl ErrorBound {
    fn add(&mut self, other: &ErrorBound) {
        self.sizes += other.sizes;
        self.wrong += other.wrong;
    }

    /// By how much all probabilities together may be wrong.
    ///
    /// # Formula
    /// Values with the errors w are probabilities whose errors sum to at most √(Σ w²), by the inequality of Cauchy and
    /// Schwarz and Parseval's identity; frequencies of the half occur twice at most. With u = 2⁻⁵³, a step of radix r ≤
    /// 7 of a transform adds r products for each value, so that its vector is wrong by at most √r·(r + 4)·u of its
    /// norm, and by 23u more after its turns, the sine and cosine of an angle up to 2π with a relative error of 2.4u.
    /// That is less than 32u·log₂ r: of N cells all transforms together are wrong by at most 32u·(log₂ N + 4), where 4
    /// stands for what transforms of real numbers do besides. What is left out is below e^−50 at each of N frequencies.
    ///
    /// # References
    /// N. J. Higham, *Accuracy and stability of numerical algorithms*, chapter 24, doi:10.1137/1.9780898718027.
    fn of_all(&self, lengths: &[usize]) -> f64 {
        let cells: f64 = lengths.iter().map(|length| *length as f64).product();
        let of_transforms = 32.0 * UNIT * (cells.log2() + 4.0);
        let left_out = exp(-NEGLIGIBLE) * cells.sqrt();
        (2.0 * self.wrong).sqrt() + of_transforms * (2.0 * self.sizes).sqrt() + left_out
    }
}

/// e^(−it) and e^(it·start) for each frequency t of a side.
type Turns = Vec<(Value, Value)>;

/// Π_g (Σ_y R_g(y)·e^(−i t_y))^(n_g), with the start of the box as origin.
struct Form<'a> {
    groups: &'a [(&'a [f64], u64)],
    turns: Vec<Turns>,
    /// Of the sides between the first and the last.
    inner: Vec<usize>,
}

impl<'a> Form<'a> {
    fn new(groups: &'a [(&'a [f64], u64)], sides: &[(u64, usize)]) -> Form<'a> {
        let turns = sides.iter().enumerate().map(|(at, (start, length))| {
            let is_last = at + 1 == sides.len();
            let count = if is_last { length / 2 + 1 } else { *length };
            let wound = |f: usize| {
                let turns = u128::from(f as u64) * u128::from(*start);
                (turns % (*length as u128)) as usize
            };
            (0..count)
                .map(|f| (root(f, *length).conj(), root(wound(f), *length)))
                .collect()
        });
        Form {
            groups,
            turns: turns.collect(),
            inner: sides[1..sides.len() - 1]
                .iter()
                .map(|(_, length)| *length)
                .collect(),
        }
    }

    /// The number of frequencies along the last side.
    fn half(&self) -> usize {
        self.turns[self.turns.len() - 1].len()
    }

    /// The number of lines of a plane along the last side.
    fn lines(&self) -> usize {
        self.inner.iter().product()
    }

    fn plane(&self, first: usize) -> Plane {
        let mut plane = Plane {
            values: Vec::new(),
            error: ErrorBound::default(),
        };
        let mut place = vec![first; self.inner.len() + 1];
        let mut sums = Vec::new();
        for line in 0..self.lines() {
            let mut rest = line;
            for (at, length) in place[1..].iter_mut().zip(&self.inner).rev() {
                *at = rest % length;
                rest /= length;
            }
            let shift = self.sums(&place, &mut sums);
            self.line(line * self.half(), shift, &sums, &mut plane);
        }
        plane
    }

    /// Σ_y R_g(y)·e^(−i t_y) of each group without its last side, and the shift of the origin.
    fn sums(&self, place: &[usize], sums: &mut Vec<Value>) -> Value {
        let last = self.turns.len();
        sums.clear();
        sums.extend(
            self.groups
                .iter()
                .map(|(row, _)| Value::new(row[last], 0.0)),
        );
        let mut shift = Value::new(1.0, 0.0);
        for (side, at) in place.iter().enumerate() {
            let (turn, back) = self.turns[side][*at];
            shift *= back;
            for (sum, (row, _)) in sums.iter_mut().zip(self.groups) {
                *sum += turn * row[side];
            }
        }
        shift
    }

    /// Adds the values of a line that are not negligible.
    ///
    /// # Formula
    /// |φ|ⁿ ≤ e^(−n(1 − |φ|²)/2). A size of a group is at most that without the last side and the mass there.
    fn line(&self, from: usize, shift: Value, sums: &[Value], plane: &mut Plane) {
        let last = self.turns.len() - 1;
        // Twice, and 2 more for rounding.
        let most = 2.0 * NEGLIGIBLE + 2.0;
        let of_line = sums.iter().zip(self.groups).map(|(sum, (row, count))| {
            let size = sum.norm_sqr().sqrt() + row[last];
            *count as f64 * (1.0 - size * size).at_least(0.0)
        });
        if of_line.sum::<f64>() > most {
            return;
        }
        for (at, (turn, back)) in self.turns[last].iter().enumerate() {
            let of_group = |(sum, (row, _)): (&Value, &(&[f64], u64))| sum + turn * row[last];
            let mut decay = 0.0;
            for (group, (_, count)) in sums.iter().zip(self.groups).zip(self.groups) {
                decay += *count as f64 * (1.0 - of_group(group).norm_sqr());
                if decay > most {
                    break;
                }
            }
            if decay > most {
                continue;
            }
            let values = sums.iter().zip(self.groups).map(of_group);
            let (value, wrong) = self.product(shift * back, values);
            plane.error.wrong += wrong * wrong;
            if value.norm_sqr() > exp(-2.0 * NEGLIGIBLE) {
                plane.error.sizes += value.norm_sqr();
                plane.values.push(((from + at) as u32, value));
            }
        }
    }

    /// A shift and the powers of all groups, and by how much the product may be wrong.
    ///
    /// # Formula
    /// Over k observations φ_g is wrong by at most e = (k + 7)·u, because probabilities sum to 1 and a turn is right to
    /// 3u. So the product of the powers is wrong by at most Π(|φ_g| + e)^(n_g) − Π|φ_g|^(n_g). A product of complex
    /// numbers is right to √5·u: the n_g products of each power add 3u each, as do those of the shift, which has 6u for
    /// each side, and of the groups.
    ///
    /// # References
    /// R. Brent, C. Percival, P. Zimmermann, *Error bounds on complex floating-point multiplication*,
    /// doi:10.1090/S0025-5718-07-01931-X.
    fn product(&self, shift: Value, values: impl Iterator<Item = Value>) -> (Value, f64) {
        let sides = self.turns.len();
        let of_sum = (sides + 8) as f64 * UNIT;
        let mut product = shift;
        let mut products = (4 * sides + self.groups.len()) as f64;
        // ln Π|φ_g|^(n_g), and by how much larger that of |φ_g| + e is.
        let (mut size, mut more) = (0.0, 0.0);
        for (value, (_, count)) in values.zip(self.groups) {
            let times = *count as f64;
            product *= power(value, *count);
            products += times;
            let of_group = value.norm_sqr().sqrt().at_least(f64::MIN_POSITIVE);
            size += times * log(of_group);
            more += times * log(1.0 + of_sum / of_group);
        }
        let wrong = exp(size.at_most(0.0)) * expm1(3.0 * UNIT * products + more);
        // Of a value that is wrong as a whole, the product of infinity and 0 may be no number.
        let most = 2.0 * exp((size + more).at_most(1.0));
        (product, if wrong <= most { wrong } else { most })
    }
}

/// e^(2πi·f/length), by an angle in the first eighth of the circle: right to 3u.
fn root(f: usize, length: usize) -> Value {
    let eighth = length as u64;
    let mut angle = 8 * f as u64;
    let below = angle > 4 * eighth;
    if below {
        angle = 8 * eighth - angle;
    }
    let left = angle > 2 * eighth;
    if left {
        angle = 4 * eighth - angle;
    }
    let steep = angle > eighth;
    if steep {
        angle = 2 * eighth - angle;
    }
    let (sin, cos) = (TAU * angle as f64 / (8 * eighth) as f64).sin_cos();
    let (re, im) = if steep { (sin, cos) } else { (cos, sin) };
    Value::new(if left { -re } else { re }, if below { -im } else { im })
}

fn power(mut base: Value, mut exponent: u64) -> Value {
    let mut result = Value::new(1.0, 0.0);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base = base * base;
        exponent >>= 1;
    }
    result
}
