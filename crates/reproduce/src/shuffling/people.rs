//! The data sets of the paper: read from their published files, or generated.

use std::path::Path;

use rand::RngExt;

use leakgauge_base::error::{Error, Result};
use leakgauge_permute::{Edges, Groups, Points, Randomness, Table, TableOptions, read_edges};

/// A census: age is public, marital status known to the attacker, income private.
pub(super) struct Census {
    pub name: String,
    pub age: Vec<f64>,
    pub marital: Vec<String>,
    /// Whether the income is large.
    pub income: Vec<u8>,
}

/// A network of friends with a private trait.
pub(super) struct Network {
    pub name: String,
    pub edges: Edges,
    pub mature: Vec<u8>,
}

fn table(file: &str) -> Result<Table> {
    Table::read(&[file.to_owned()], &TableOptions::default())
}

fn two_valued(file: &str, labels: &[String], positive: impl Fn(&str) -> bool) -> Result<Vec<u8>> {
    let values: Vec<u8> = labels
        .iter()
        .map(|label| u8::from(positive(label)))
        .collect();
    if values.iter().all(|x| *x == values[0]) {
        return Err(Error::file(file, "the private column has only one value"));
    }
    Ok(values)
}

impl Census {
    /// The Adult data set: columns age, marital-status and income.
    pub fn read(file: &str) -> Result<Census> {
        let table = table(file)?;
        let column = |name: &str| table.column("data", name);
        Ok(Census {
            name: file.to_owned(),
            age: table.numbers(&[column("age")?])?,
            marital: table.labels(column("marital-status")?)?,
            income: two_valued(file, &table.labels(column("income")?)?, |x| {
                x.starts_with('>')
            })?,
        })
    }

    /// A generated census: incomes increase with age up to 50, and with marriage.
    pub fn generated(n: usize, randomness: &mut Randomness) -> Census {
        let mut census = Census {
            name: "a generated census".to_owned(),
            age: Vec::new(),
            marital: Vec::new(),
            income: Vec::new(),
        };
        for _ in 0..n {
            let mut uniform = || randomness.random::<f64>();
            let age = (17.0 + 73.0 * uniform().min(uniform())).floor();
            let married = uniform() < ((age - 17.0) / 25.0).min(0.65);
            let height = 1.0 - ((age - 50.0) / 35.0).powi(2).min(1.0);
            let rich = uniform() < height * if married { 0.62 } else { 0.1 };
            census.age.push(age);
            census
                .marital
                .push(if married { "married" } else { "single" }.to_owned());
            census.income.push(u8::from(rich));
        }
        census
    }

    pub fn points(&self) -> Result<Points> {
        Points::new(self.age.clone(), 1)
    }
}

impl Network {
    /// The Twitch data set: a directory with edges.csv or edges.csv.gz, and target.csv with columns new_id and
    /// mature.
    pub fn read(directory: &str) -> Result<Network> {
        let path = Path::new(directory);
        let find = |name: &str| {
            let packed = path.join(format!("{name}.gz"));
            let plain = path.join(name);
            let found = if plain.exists() || !packed.exists() {
                plain
            } else {
                packed
            };
            found.display().to_string()
        };
        let target = find("target.csv");
        let people = table(&target)?;
        let ids = people.labels(people.column("data", "new_id")?)?;
        let mature = people.labels(people.column("data", "mature")?)?;
        Ok(Network {
            name: directory.to_owned(),
            edges: read_edges(&find("edges.csv"), ids.len(), Some(&ids))?,
            mature: two_valued(&target, &mature, |x| x.eq_ignore_ascii_case("true"))?,
        })
    }

    /// A generated network: most friends live near each other, and people in a neighborhood often have equal values.
    pub fn generated(n: usize, randomness: &mut Randomness) -> Result<Network> {
        const FRIENDS: f64 = 24.0;
        let places: Vec<f64> = (0..2 * n).map(|_| randomness.random()).collect();
        let radius = (FRIENDS / (std::f64::consts::PI * n as f64)).sqrt();
        let near = Groups::within(&Points::new(places.clone(), 2)?, radius)?;
        let mut edges = Vec::new();
        for i in 0..n {
            let members = near.of_row(i).map_or(&[][..], |group| near.members(group));
            edges.extend(members.iter().map(|j| (i as u32, *j)));
            edges.push((i as u32, randomness.random_range(0..n as u32)));
        }
        let mature = places.chunks(2).map(|place| {
            let likely = ((place[0] * 4.0) as u32 + (place[1] * 4.0) as u32).is_multiple_of(2);
            u8::from((randomness.random::<f64>() < 0.85) == likely)
        });
        Ok(Network {
            name: "a generated network".to_owned(),
            mature: mature.collect(),
            edges: Edges::new(n, &edges)?,
        })
    }
}
