use super::*;
use crate::scorer::score_table;
use leakgauge_log::{Log, ReadOptions, read_from};

fn read(csv: String) -> Log {
    read_from("made", std::io::Cursor::new(csv), &ReadOptions::default()).expect("a good log")
}

fn scores(scorer: &dyn Scorer, log: &Log, label: &str) -> Vec<f64> {
    let ids: Vec<u32> = (0..log.observations.len() as u32).collect();
    let symbol = ids
        .iter()
        .position(|&symbol| log.observations.label(symbol) == label)
        .expect("a known observation");
    let table = score_table(scorer, &log.observations, ids, log.secrets.len());
    table.row(symbol).to_vec()
}

/// Three rows of a secret by hand: (c − d + (λ + d D) p) / (n + λ).
#[test]
fn scores_by_hand() {
    let log = read("secret,o\na,x\na,x\na,y\nb,y\nb,y\nb,z\nb,z\n".to_owned());
    let table = Table::new(log.counts.clone());
    let smoothing = Smoothing {
        borrowed: 2.0,
        discount: 0.5,
    };
    let scorer = Frequentist::new(table, smoothing, None);
    let pooled = |count: f64| (count + 0.5) / (7.0 + 0.5 * 4.0);
    let x = scores(&scorer, &log, "x");
    let of_a = (1.5 + (2.0 + 0.5 * 2.0) * pooled(2.0)) / 5.0;
    let of_b = (2.0 + 0.5 * 2.0) * pooled(2.0) / 6.0;
    assert!((x[0] - of_a.ln()).abs() < 1e-14 && (x[1] - of_b.ln()).abs() < 1e-14);
}

#[test]
fn frequencies_of_a_secret_sum_to_one_with_what_was_not_seen() {
    let csv = |rows: &[(&str, &str, usize)]| {
        let rows = rows.iter().map(|(s, o, n)| format!("{s},{o}\n").repeat(*n));
        "secret,o\n".to_owned() + &rows.collect::<String>()
    };
    let log = read(csv(&[
        ("a", "x", 9),
        ("a", "y", 1),
        ("b", "y", 4),
        ("b", "z", 3),
        ("c", "w", 1),
    ]));
    let scorer = Frequentist::fit(&log.counts);
    let ids: Vec<u32> = (0..log.observations.len() as u32 + 1).collect();
    let mut all = vec![0.0; ids.len() * 3];
    scorer.score(&log.observations, &ids, &mut all);
    for secret in 0..3 {
        let sum: f64 = all.chunks(3).map(|row| row[secret].exp()).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    }
}

/// One secret repeats itself, the other always shows something new.
#[test]
fn what_was_never_seen_points_to_the_secret_that_shows_new_things() {
    let mut csv = "secret,o\n".to_owned();
    for row in 0..60 {
        csv.push_str(&format!("narrow,v{}\nwide,w{row}\n", row % 3));
    }
    csv.push_str("wide,new\n");
    let log = read(csv);
    let learned = log
        .counts
        .cells()
        .iter()
        .copied()
        .filter(|cell| log.observations.label(cell.symbol) != "new");
    let scorer = Frequentist::fit(&Counts::new(2, learned.collect()));
    let new = scores(&scorer, &log, "new");
    assert!(new[1] > new[0] + 1.0, "{new:?}");
}

#[test]
fn what_was_never_seen_together_is_judged_column_by_column() {
    let mut csv = "secret,one,two,three\n".to_owned();
    for row in 0..200 {
        let (x, y, z) = (row * 7 % 10, row * 3 % 11, row * 5 % 13);
        csv.push_str(&format!("a,x{x},y{y},z{z}\nb,x{},y{y},z{}\n", x + 5, z + 6));
    }
    csv.push_str("a,x0,y10,z12\n");
    let log = read(csv);
    let learned = log
        .counts
        .cells()
        .iter()
        .copied()
        .filter(|cell| log.observations.label(cell.symbol) != "x0,y10,z12");
    let learned = Counts::new(2, learned.collect());
    let scorer = Frequentist::fit_by_column(&log.observations, &learned).expect("three columns");
    let parameters = scorer.parameters();
    assert_eq!(
        parameters.get("columns_on_their_own"),
        Some(&Parameter::Count(3))
    );
    let new = scores(&scorer, &log, "x0,y10,z12");
    assert!(new[0] > new[1] + 1.0, "{new:?}");
    let again = scorer.refit(&log.observations, &learned).unwrap();
    assert_eq!(new, scores(&*again, &log, "x0,y10,z12"));
    assert_eq!(parameters, again.parameters());
}

#[test]
fn secrets_without_rows_and_counts_of_billions_have_finite_scores() {
    let log = read("secret,o,p\na,x,u\na,y,v\nb,x,v\nc,z,u\n".to_owned());
    for count in [1, 1 << 40, u64::MAX / 4] {
        let cells = log.counts.cells().iter().filter(|cell| cell.secret < 2);
        let cells = cells.map(|cell| Cell { count, ..*cell });
        let fit = Counts::new(3, cells.collect());
        let scorer = Frequentist::fit(&fit);
        for label in ["x,u", "z,u"] {
            assert!(
                scores(&scorer, &log, label)
                    .iter()
                    .all(|score| score.is_finite())
            );
        }
    }
    let nothing = Frequentist::fit(&Counts::new(3, Vec::new()));
    assert!(
        scores(&nothing, &log, "x,u")
            .iter()
            .all(|score| score.is_finite())
    );
}
