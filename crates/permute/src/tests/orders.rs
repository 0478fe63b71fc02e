//! Permutations, groups and reference orders.

use rand::RngExt;
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
    for alpha in [-1.0, f64::NAN, f64::INFINITY] {
        let plan = Plan::new(&groups, alpha, Distance::Kendall, OrderChoice::Best, None);
        assert!(plan.unwrap_err().to_string().contains("alpha"));
    }
}

/// App. A.10: the order of Figure 6, its widths and bound, and the release of the drawn permutation.
#[test]
fn the_worked_example_of_the_paper_is_reproduced() {
    let from_one = |rows: &[u32]| rows.iter().map(|row| row - 1).collect::<Vec<u32>>();
    let named = [
        ("G4", [4, 5, 7].as_slice()),
        ("G5", &[5, 2, 3, 8, 4]),
        ("G8", &[8, 3, 5]),
    ];
    let lists = named.map(|(name, rows)| (name.to_owned(), from_one(rows)));
    let groups = Groups::listed(8, lists.to_vec()).unwrap();
    let order = from_one(&[5, 2, 3, 8, 4, 1, 6, 7]);
    let plan = Plan::at(&groups, 1.0, Distance::Kendall, order.clone()).unwrap();
    assert_eq!((plan.reference.width, plan.sensitivity_bound), (7, 28));
    // The exact sensitivity is smaller than the paper's.
    assert_eq!(plan.sensitivity, 13);
    assert_eq!(plan.theta, 1.0 / 13.0);
    let widths: Vec<u64> = of_groups(&groups, &order).iter().map(|s| s.width).collect();
    assert_eq!(widths, [7, 4, 3]);
    // σ = (3 2 5 4 8 1 7 6) releases y1 y2 y5 y8 y3 y7 y6 y4.
    let drawn = from_one(&[3, 2, 5, 4, 8, 1, 7, 6]);
    let near = compose(&inverse(&order), &drawn);
    assert_eq!(
        plan.at_reference(&near),
        from_one(&[1, 2, 5, 8, 3, 7, 6, 4])
    );
    for wrong in [
        &[0, 1, 2][..],
        &[0, 1, 2, 3, 4, 5, 6, 6],
        &[0, 1, 2, 3, 4, 5, 6, 8],
    ] {
        assert!(Plan::at(&groups, 1.0, Distance::Kendall, wrong.to_vec()).is_err());
    }
}

/// With α = 0 every permutation is equally likely, also where no group has two rows.
#[test]
fn alpha_0_shuffles_all_rows_uniformly() {
    for distance in [Distance::Kendall, Distance::Hamming] {
        for lists in [vec![vec![0, 1]], vec![vec![0], vec![1]]] {
            let named = lists
                .iter()
                .map(|rows| ("g".to_owned(), rows.clone()))
                .collect();
            let groups = Groups::listed(4, named).unwrap();
            let plan = Plan::new(&groups, 0.0, distance, OrderChoice::Best, None).unwrap();
            assert_eq!(plan.theta, 0.0);
            let mut counts = std::collections::BTreeMap::new();
            let mut randomness = Randomness::seeded(7);
            for _ in 0..24_000 {
                *counts
                    .entry(plan.permutation(&mut randomness))
                    .or_insert(0u32) += 1;
            }
            assert_eq!(counts.len(), 24);
            // 24 cells of mean 1000: beyond 200 with probability below 1e-8 in all.
            assert!(
                counts.values().all(|n| (800..1200).contains(n)),
                "{counts:?}"
            );
        }
    }
}

/// A narrow order can have the larger sensitivity: what θ is computed from decides.
#[test]
fn the_best_order_has_the_least_sensitivity() {
    let mut differ = 0;
    for seed in 0..60 {
        let mut randomness = Randomness::seeded(seed);
        let edges: Vec<(u32, u32)> = (0..24)
            .map(|_| {
                (
                    randomness.random_range(0..16),
                    randomness.random_range(0..16),
                )
            })
            .collect();
        let groups = Groups::by_path(&Edges::new(16, &edges).unwrap(), 1).unwrap();
        let plan = |choice| Plan::new(&groups, 1.0, Distance::Kendall, choice, None).unwrap();
        let (best, narrow) = (plan(OrderChoice::Best), plan(OrderChoice::Narrowest));
        let least = |key: fn(&Order) -> u64| best.tried.iter().map(key).min().unwrap();
        assert_eq!(best.sensitivity, least(|order| order.kendall));
        assert_eq!(narrow.reference.width, least(|order| order.width));
        differ += u32::from(best.sensitivity < narrow.sensitivity);
    }
    assert!(differ > 0);
}

#[test]
fn the_closest_rows_of_a_graph_are_counted_by_edges() {
    // 0 – 1 – 2 – 3, 1 – 4, and 5 alone.
    let edges = Edges::new(6, &[(0, 1), (1, 2), (2, 3), (4, 1)]).unwrap();
    let of = |size: usize, row: usize| -> Vec<u32> {
        let groups = Groups::closest(&edges, size).unwrap();
        groups.members(groups.of_row(row).unwrap()).to_vec()
    };
    assert_eq!(of(1, 2), [2]);
    assert_eq!(of(2, 2), [1, 2]);
    assert_eq!(of(3, 0), [0, 1, 2]);
    assert_eq!(of(4, 0), [0, 1, 2, 4]);
    assert_eq!(of(5, 3), [0, 1, 2, 3, 4]);
    assert_eq!(of(3, 5), [5]);
    assert!(Groups::closest(&edges, 0).is_err() && Groups::closest(&edges, 7).is_err());
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
