//! The columns of an observation one by one.

use hashbrown::HashMap;
use leakgauge_base::parallel;

use leakgauge_log::observations::{Cell, Counts, Observations, Part};

/// The columns whose values recur among the fit rows: not constant, and with at most half as many values
/// as there are distinct observations. `None` if the log has one column, or none that recurs. A mixed column counts
/// as two: its numbers and its words.
pub(super) fn recurring(observations: &Observations, fit: &Counts) -> Option<Vec<Part>> {
    let places: Vec<Part> = observations.parts().map(|(_, part)| part).collect();
    if places.len() < 2 {
        return None;
    }
    let ids = fit.symbols();
    let most = ids.len() / 2;
    let mut places = places;
    let recurs = parallel::map(places.len(), |at| {
        let learned = Codes::learn(places[at], observations, &ids, most);
        learned.is_some_and(|(codes, _)| codes.len() > 1)
    });
    let mut recurs = recurs.into_iter();
    places.retain(|_| recurs.next() == Some(true));
    (!places.is_empty()).then_some(places)
}

/// The values of a column among the fit rows, numbered. They are known by what they are, so that the
/// observations of any table can be looked up.
enum Codes {
    Numbers(usize, HashMap<u64, u32>),
    Labels(usize, HashMap<String, u32>),
}

impl Codes {
    /// Numbers the values of some observations in the order in which they first occur, and tells the
    /// number of each observation; `None` if there are more than `most` values.
    fn learn(
        place: Part,
        observations: &Observations,
        ids: &[u32],
        most: usize,
    ) -> Option<(Codes, Vec<u32>)> {
        let mut codes = match place {
            Part::Number(at) => Codes::Numbers(at, HashMap::new()),
            Part::Label(at) => Codes::Labels(at, HashMap::new()),
        };
        let mut of_ids = Vec::with_capacity(ids.len());
        for &symbol in ids {
            of_ids.push(codes.add(observations, symbol));
            if codes.len() > most {
                return None;
            }
        }
        Some((codes, of_ids))
    }

    fn add(&mut self, observations: &Observations, symbol: u32) -> u32 {
        let next = self.len() as u32;
        match self {
            Codes::Numbers(at, known) => *known
                .entry(bits(observations.numbers(symbol)[*at]))
                .or_insert(next),
            Codes::Labels(at, known) => {
                let label = observations.label_at(symbol, *at);
                *known.entry_ref(label).or_insert(next)
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Codes::Numbers(_, known) => known.len(),
            Codes::Labels(_, known) => known.len(),
        }
    }

    /// The number of an observation's value; one beyond all of them if no fit row has it.
    fn of(&self, observations: &Observations, symbol: u32) -> usize {
        let known = match self {
            Codes::Numbers(at, known) => known.get(&bits(observations.numbers(symbol)[*at])),
            Codes::Labels(at, known) => known.get(observations.label_at(symbol, *at)),
        };
        known.map_or(self.len(), |&code| code as usize)
    }
}

/// A number as a key; −0 is 0.
fn bits(number: f64) -> u64 {
    (number + 0.0).to_bits()
}

/// How often each secret produced each value of each column.
pub(super) struct ColumnCounts {
    columns: Vec<ColumnCount>,
    rows: Vec<f64>,
}

struct ColumnCount {
    place: Part,
    codes: Codes,
    /// Cells by value, then secret; none for what no fit row has.
    cells: Vec<Cell>,
    /// Where the cells of a value start.
    starts: Vec<usize>,
    /// Per value, the last being any that no fit row has: ln of its frequency among all secrets.
    ln_pooled: Vec<f64>,
    /// Per secret, the weight of that frequency: λ + d·D_s.
    spread: Vec<f64>,
    /// Per secret, ln of that weight over n_s + λ.
    ln_unseen: Vec<f64>,
}

impl ColumnCounts {
    /// Rows borrowed from all secrets, and discount, within a column: values recur, so that these hardly
    /// matter.
    const BORROWED: f64 = 1.0;
    const DISCOUNT: f64 = 0.5;

    pub fn new(places: &[Part], observations: &Observations, fit: &Counts) -> Self {
        let rows: Vec<f64> = fit.rows().iter().map(|&rows| rows as f64).collect();
        ColumnCounts {
            columns: parallel::map(places.len(), |at| {
                ColumnCount::new(places[at], observations, fit, &rows)
            }),
            rows,
        }
    }

    /// The same columns, counted in other rows.
    pub fn refit(&self, observations: &Observations, fit: &Counts) -> Self {
        let places: Vec<Part> = self.columns.iter().map(|column| column.place).collect();
        Self::new(&places, observations, fit)
    }

    /// The number of columns.
    pub fn count(&self) -> usize {
        self.columns.len()
    }

    /// The sum over columns of the logarithms of the smoothed frequencies, for every secret.
    pub fn ln_frequencies(&self, observations: &Observations, symbol: u32, sums: &mut [f64]) {
        sums.fill(0.0);
        for column in &self.columns {
            let value = column.codes.of(observations, symbol);
            let ln_pooled = column.ln_pooled[value];
            for (sum, ln_unseen) in sums.iter_mut().zip(&column.ln_unseen) {
                *sum += ln_pooled + ln_unseen;
            }
            for cell in column.cells_of(value) {
                let secret = cell.secret as usize;
                let borrowed = column.spread[secret] * ln_pooled.exp();
                let kept = cell.count as f64 - Self::DISCOUNT;
                sums[secret] += (kept / borrowed).ln_1p();
            }
        }
    }

    /// The same for one secret, one of its rows with this observation held out.
    pub fn ln_frequency_without(
        &self,
        observations: &Observations,
        symbol: u32,
        secret: u32,
    ) -> f64 {
        let left = self.rows[secret as usize] - 1.0 + Self::BORROWED;
        let of_column = |column: &ColumnCount| {
            let value = column.codes.of(observations, symbol);
            let cells = column.cells_of(value);
            let count = cells
                .iter()
                .find(|cell| cell.secret == secret)
                .map_or(1, |cell| cell.count);
            let lost = if count == 1 { Self::DISCOUNT } else { 0.0 };
            let spread = column.spread[secret as usize] - lost;
            let kept = (count as f64 - 1.0 - Self::DISCOUNT).max(0.0);
            ((kept + spread * column.ln_pooled[value].exp()) / left).ln()
        };
        self.columns.iter().map(of_column).sum()
    }
}

impl ColumnCount {
    fn new(place: Part, observations: &Observations, fit: &Counts, rows: &[f64]) -> Self {
        let ids = fit.symbols();
        let (codes, of_ids) =
            Codes::learn(place, observations, &ids, usize::MAX).expect("any number of values");
        let by_value = fit.by_symbol().zip(&of_ids).flat_map(|(cells, &code)| {
            cells.iter().map(move |cell| Cell {
                symbol: code,
                ..*cell
            })
        });
        let counts = Counts::new(rows.len(), by_value.collect());
        let size = codes.len() + 1;
        let mut starts = vec![0; size + 1];
        let mut seen = vec![0.0; size];
        let mut distinct = vec![0.0; rows.len()];
        for cell in counts.cells() {
            starts[cell.symbol as usize + 1] += 1;
            seen[cell.symbol as usize] += cell.count as f64;
            distinct[cell.secret as usize] += 1.0;
        }
        for value in 0..size {
            starts[value + 1] += starts[value];
        }
        let total: f64 = rows.iter().sum::<f64>() + 0.5 * size as f64;
        let spread: Vec<f64> = distinct
            .iter()
            .map(|distinct| ColumnCounts::BORROWED + ColumnCounts::DISCOUNT * distinct)
            .collect();
        ColumnCount {
            place,
            codes,
            cells: counts.cells().to_vec(),
            starts,
            ln_pooled: seen
                .iter()
                .map(|seen| ((seen + 0.5) / total).ln())
                .collect(),
            ln_unseen: spread
                .iter()
                .zip(rows)
                .map(|(spread, rows)| (spread / (rows + ColumnCounts::BORROWED)).ln())
                .collect(),
            spread,
        }
    }

    fn cells_of(&self, value: usize) -> &[Cell] {
        &self.cells[self.starts[value]..self.starts[value + 1]]
    }
}
