//! Golden values, and laws against enumeration.

mod guarantee;
mod models;
mod orders;
mod preservation;
mod table;

use serde_json::Value;

fn golden(kind: &str) -> Vec<Value> {
    let table: Value =
        serde_json::from_str(include_str!("../../../../tests/golden/permute.json")).unwrap();
    let all = table["entries"].as_array().unwrap();
    let found: Vec<Value> = all.iter().filter(|e| e["kind"] == kind).cloned().collect();
    assert!(!found.is_empty(), "no entries of kind {kind}");
    found
}

/// A list of numbers from 1 as rows from 0.
fn rows(list: &Value) -> Vec<u32> {
    let list = list.as_array().unwrap().iter();
    list.map(|x| x.as_u64().unwrap() as u32 - 1).collect()
}

fn near(found: f64, expected: &Value, id: &Value) {
    let expected = expected.as_f64().unwrap();
    let off = (found - expected).abs();
    assert!(
        off <= 1e-12 * expected.abs(),
        "{id}: {found:e}, not {expected:e}"
    );
}

/// All permutations of 0 … n − 1.
fn all(n: usize) -> Vec<Vec<u32>> {
    fn extend(left: &mut Vec<u32>, begun: &mut Vec<u32>, out: &mut Vec<Vec<u32>>) {
        if left.is_empty() {
            out.push(begun.clone());
        }
        for at in 0..left.len() {
            let item = left.remove(at);
            begun.push(item);
            extend(left, begun, out);
            begun.pop();
            left.insert(at, item);
        }
    }
    let mut out = Vec::new();
    extend(&mut (0..n as u32).collect(), &mut Vec::new(), &mut out);
    out
}

fn identity(n: usize) -> Vec<u32> {
    (0..n as u32).collect()
}

fn groups_of(lists: &Value) -> Vec<Vec<u32>> {
    lists.as_array().unwrap().iter().map(rows).collect()
}
