//! Permutations, groups and reference orders.

use serde_json::Value;

use super::super::*;
use super::{golden, groups_of, identity, rows};

#[test]
fn operations_and_distances_are_the_golden_ones() {
    for e in golden("perm_ops") {
        let sigma = rows(&e["params"]["sigma"]);
        let x = rows(&e["params"]["x"]);
        assert_eq!(apply(&sigma, &x), rows(&e["values"]["applied"]));
        assert_eq!(inverse(&sigma), rows(&e["values"]["inverse"]));
    }
    for e in golden("distance") {
        let (a, b) = (rows(&e["params"]["a"]), rows(&e["params"]["b"]));
        let v = &e["values"];
        assert_eq!(kendall(&a, &b), v["kendall_items"].as_u64().unwrap());
        assert_eq!(hamming(&a, &b), v["hamming"].as_u64().unwrap());
        // Places instead of items.
        let places = kendall(&inverse(&a), &inverse(&b));
        assert_eq!(places, v["kendall_values"].as_u64().unwrap());
        if let Some(inversions_a) = v["inversions_a"].as_u64() {
            assert_eq!(inversions(&a), inversions_a);
            assert_eq!(compose(&a, &b), rows(&v["compose"]));
        }
    }
}

fn check_groups(e: &Value, groups: &Groups) {
    for (row, expected) in groups_of(&e["values"]["groups"]).iter().enumerate() {
        assert_eq!(
            groups.members(groups.of_row(row).unwrap()),
            expected,
            "{}",
            e["id"]
        );
    }
    let choice = OrderChoice::Named(OrderName::BreadthFirst);
    let order = orders(groups, None, choice).remove(0);
    let v = &e["values"];
    assert_eq!(order.rows, rows(&v["sigma0"]), "{}", e["id"]);
    assert_eq!(order.width, v["width"].as_u64().unwrap());
    assert_eq!(
        bound_by_width(order.width),
        v["paper_bound"].as_u64().unwrap()
    );
    assert_eq!(order.kendall, v["exact_delta"].as_u64().unwrap());
}

#[test]
fn groups_and_breadth_first_orders_are_the_golden_ones() {
    for e in golden("graph") {
        let pairs = groups_of(&e["params"]["edges"]);
        let pairs: Vec<(u32, u32)> = pairs.iter().map(|p| (p[0], p[1])).collect();
        let n = e["params"]["n"].as_u64().unwrap() as usize;
        let edges = Edges::new(n, &pairs).unwrap();
        let length = e["params"]["r"].as_u64().unwrap() as u32;
        check_groups(&e, &Groups::by_path(&edges, length).unwrap());
    }
    for e in golden("line").into_iter().chain(golden("plane")) {
        let mut coordinates = Vec::new();
        let t = e["params"]["t"].as_array().unwrap();
        for point in t {
            match point.as_array() {
                Some(point) => coordinates.extend(point.iter().map(|x| x.as_f64().unwrap())),
                None => coordinates.push(point.as_f64().unwrap()),
            }
        }
        let d = coordinates.len() / t.len();
        let points = Points::new(coordinates, d).unwrap();
        let radius = e["params"]["r"].as_f64().unwrap();
        check_groups(&e, &Groups::within(&points, radius).unwrap());
    }
}

/// On a line the sweep is best, and no order is worse than the paper's for the default.
#[test]
fn the_best_order_is_taken_and_every_order_has_all_rows() {
    let line: Vec<f64> = (0..500).map(|i| f64::from(i * 7919 % 500)).collect();
    let points = Points::new(line, 1).unwrap();
    let groups = Groups::within(&points, 3.0).unwrap();
    let found = orders(&groups, Some(&points), OrderChoice::Best);
    assert_eq!(found.len(), 4);
    for order in &found {
        assert_eq!(inverse(&inverse(&order.rows)), order.rows);
        let mut sorted = order.rows.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, identity(500));
    }
    let plan = Plan::new(
        &groups,
        2.0,
        Distance::Kendall,
        OrderChoice::Best,
        Some(&points),
    )
    .unwrap();
    assert_eq!((plan.reference.width, plan.sensitivity), (6, 21));
    assert_eq!(plan.theta, 2.0 / 21.0);
    let least = found.iter().map(|order| order.width).min().unwrap();
    assert_eq!(least, plan.reference.width);
}

/// Two cliques and a loner, in a graph, by listed groups and by nearest ones: any grouping gets orders.
#[test]
fn disconnected_groups_are_fine() {
    let edges = Edges::new(7, &[(0, 2), (2, 4), (0, 4), (1, 3), (3, 5), (1, 5)]).unwrap();
    let groups = Groups::by_path(&edges, 1).unwrap();
    for order in orders(&groups, None, OrderChoice::Best) {
        assert_eq!(order.width, 2, "{:?}", order.name);
    }
    let points = Points::new(vec![0.0, 9.0, 1.0, 10.0, 2.0, 11.0, 99.0], 1).unwrap();
    let groups = Groups::nearest(&points, 3).unwrap();
    for order in orders(&groups, Some(&points), OrderChoice::Best) {
        assert!(
            order.width >= 2 && order.rows.len() == 7,
            "{:?}",
            order.name
        );
    }
    let alone = Groups::within(&points, 0.5).unwrap();
    let plan = Plan::new(
        &alone,
        1.0,
        Distance::Kendall,
        OrderChoice::Best,
        Some(&points),
    )
    .unwrap();
    assert_eq!(plan.theta, f64::INFINITY);
    assert_eq!(plan.permutation(&mut Randomness::seeded(1)), identity(7));
}

#[test]
fn an_alpha_that_is_none_is_refused() {
    let points = Points::new(vec![0.0, 1.0], 1).unwrap();
    let groups = Groups::within(&points, 2.0).unwrap();
    for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let plan = Plan::new(&groups, alpha, Distance::Kendall, OrderChoice::Best, None);
        assert!(plan.unwrap_err().to_string().contains("alpha"));
    }
}

/// Neighbors differ within the group only: nothing leaves it, and all of it can differ.
#[test]
fn neighbors_are_the_golden_ones() {
    for e in golden("neighbors") {
        let (a, b) = (rows(&e["params"]["a"]), rows(&e["params"]["b"]));
        let group = rows(&e["params"]["group"]);
        let differ = rows(&e["values"]["differ_at"]);
        assert_eq!(hamming(&a, &b), differ.len() as u64);
        assert_eq!(differ, group);
        let reordered = compose(&inverse(&a), &b);
        let stays = |row: &u32| reordered[*row as usize] == *row;
        assert!(
            identity(a.len())
                .iter()
                .all(|row| stays(row) != group.contains(row))
        );
        let mut marked = vec![false; a.len()];
        assert_eq!(kept(&group, &reordered, &mut marked) as usize, group.len());
    }
}
