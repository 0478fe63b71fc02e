//! Files whose columns are not what they seem: each was once read as something else than it is.

use leakgauge_testing::rng;
use rand::RngExt;

use crate::common::{Place, stderr, stdout};

fn lines(header: &str, rows: usize, row: impl Fn(usize) -> String) -> String {
    let rows: String = (0..rows).map(|at| row(at) + "\n").collect();
    format!("{header}\n{rows}")
}

/// A number in [0, 1) that looks random.
fn noise(at: usize) -> f64 {
    let mixed = (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995;
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

/// What an error says, and the exit code.
fn refused(place: &Place, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    stderr(&output)
}

/// Rows of other metrics have no secret, and still are metrics that were pooled.
#[test]
fn pooled_kinds_are_seen_beside_rows_without_a_secret() {
    let log = lines("metric_name,user,value", 3000, |at| match at % 10 {
        0 => "vus,,1".to_owned(),
        kind => {
            let scale = [1.0, 1000.0, 30.0][kind % 3];
            let user = ["known", "unknown"][at / 10 % 2];
            format!("m{},{user},{:.4}", kind % 3, scale * (1.0 + noise(at)))
        }
    });
    let place = Place::with_log(log);
    let output = place.run(&[
        "audit",
        "log.csv",
        "--secret",
        "user",
        "--observe",
        "value",
        "--missing",
        "drop",
        "--unit",
        "ms",
        "--claim",
        "time-difference(1s)",
        "--quick",
    ]);
    let text = stdout(&output);
    assert!(
        text.contains("tells several kinds of measurements apart"),
        "{text}"
    );
    assert_eq!(output.status.code(), Some(3), "{text}");
}

#[test]
fn times_that_no_clock_can_tell_are_in_another_unit() {
    let log = lines("a,b", 400, |at| {
        format!(
            "{:.9},{:.9}",
            1e-4 * (1.0 + noise(at)),
            1e-4 * (1.0 + noise(at + 7))
        )
    });
    let place = Place::with_log(log);
    let claim = ["--wide", "--blocks", "--claim", "time-difference(10ns)"];
    let command = |unit| [&["audit", "log.csv", "--unit", unit][..], &claim].concat();
    let error = refused(&place, &command("ns"));
    assert!(
        error.contains("no clock can tell") && error.contains("--unit s"),
        "{error}"
    );
    assert_ne!(place.run(&command("s")).status.code(), Some(2));
}

/// Five of what?
#[test]
fn a_claim_without_a_unit_is_refused_where_the_log_has_one() {
    let log = lines("user,time_ms", 400, |at| {
        format!("{},{:.3}", ["a", "b"][at % 2], 40.0 + noise(at))
    });
    let place = Place::with_log(log);
    let audit = |claim| ["audit", "log.csv", "--secret", "user", "--claim", claim];
    let error = refused(&place, &audit("time-difference(5)"));
    assert!(
        error.contains("are in ms") && error.contains("time-difference(5ms)"),
        "{error}"
    );
    assert_ne!(
        place.run(&audit("time-difference(5ms)")).status.code(),
        Some(2)
    );
}

/// Both columns hold cycles: neither names a class.
#[test]
fn two_columns_of_numbers_under_v1_and_v2_are_two_classes() {
    let log = lines("V1,V2", 600, |at| {
        format!(
            "{:.0},{:.0}",
            3000.0 + 90.0 * noise(at),
            3030.0 + 90.0 * noise(at + 1)
        )
    });
    let report = Place::with_log(log).json(&["estimate", "log.csv", "--quick"]);
    assert_eq!(
        report["input"]["secrets"].as_array().map(Vec::len),
        Some(2),
        "{report:#}"
    );
    assert_eq!(report["input"]["recognized"], "rtlf-series");
}

/// `ab -g` sorts its rows by the time that is observed: they resemble those before them, and mean nothing by it.
#[test]
fn sorted_times_are_no_times_in_their_order() {
    let file = |shift: f64, salt: usize| {
        let mut times: Vec<f64> = (0..1500)
            .map(|at| 20.0 + shift + 12.0 * noise(3 * at + salt))
            .collect();
        times.sort_by(f64::total_cmp);
        lines(
            "starttime\tseconds\tctime\tdtime\tttime\twait",
            times.len(),
            |at| {
                let (time, second) = (times[at] as u64, 1_764_419_280 + at * 7919 % 900);
                format!(
                    "Sun Nov 29 12:28:00 2026\t{second}\t1\t{}\t{time}\t{}",
                    time - 1,
                    time - 2
                )
            },
        )
    };
    let place = Place::new()
        .file("hit.tsv", file(0.0, 1))
        .file("miss.tsv", file(6.0, 2));
    let output = place.run(&[
        "audit",
        "hit.tsv",
        "miss.tsv",
        "--secret-from",
        "file",
        "--claim",
        "time-difference(1ms)",
        "--quick",
    ]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        !text.contains("in the log twice") && !text.contains("counts the rows"),
        "{text}"
    );
}

/// Each run has three rows: its name is no observation, though it tells the data set.
#[test]
fn names_of_runs_are_not_observed() {
    let log = lines("run_id,dataset,noisy", 1800, |at| {
        let run = at / 3;
        format!(
            "{:08x},{},{:.4}",
            run * 2_654_435_761 % 4_294_967_296,
            ["adult", "adult_minus_one"][run % 2],
            noise(at)
        )
    });
    let report =
        Place::with_log(log).json(&["estimate", "log.csv", "--secret", "dataset", "--quick"]);
    let left_out = report["input"]["left_out_columns"].to_string();
    assert!(
        left_out.contains("run_id") && left_out.contains("row-id"),
        "{left_out}"
    );
}

#[test]
fn a_column_that_counts_the_rows_is_no_secret_of_a_wide_file() {
    let log = lines("run,D1,D2", 400, |at| {
        format!("{at},{:.4},{:.4}", noise(at), noise(at + 1))
    });
    let place = Place::with_log(log);
    let error = refused(&place, &["estimate", "log.csv", "--wide", "--quick"]);
    assert!(
        error.contains("counts the rows") && error.contains("--secrets D1,D2"),
        "{error}"
    );
    let report = place.json(&[
        "estimate",
        "log.csv",
        "--wide",
        "--secrets",
        "D1,D2",
        "--quick",
    ]);
    assert_eq!(report["input"]["rows_used"], 800, "{report:#}");
    // The index that pandas writes has no name.
    let log = lines(",D1,D2", 400, |at| {
        format!("{at},{:.4},{:.4}", noise(at), noise(at + 1))
    });
    let place = Place::with_log(log);
    let report = place.json(&[
        "estimate",
        "log.csv",
        "--wide",
        "--secrets",
        "D1,D2",
        "--quick",
    ]);
    assert_eq!(report["input"]["rows_used"], 800, "{report:#}");
}

/// Connections hardly ever go through a tunnel: its column must not take all rows with it.
#[test]
fn a_blank_column_takes_no_rows_with_it() {
    let log = lines("secret,tunnel,bytes", 400, |at| {
        let bytes = if at % 9 == 0 {
            String::new()
        } else {
            format!("{:.3}", noise(at))
        };
        format!("{},,{bytes}", ["a", "b"][at % 2])
    });
    let report =
        Place::with_log(log).json(&["estimate", "log.csv", "--missing", "drop", "--quick"]);
    assert!(
        report["input"]["left_out_columns"]
            .to_string()
            .contains("blank"),
        "{report:#}"
    );
    assert!(
        report["input"]["rows_used"].as_u64() > Some(300),
        "{report:#}"
    );
}

/// The estimate is beyond the claim: more answers may well refute it.
#[test]
fn answers_that_may_refute_a_claim_are_not_said_to_settle_nothing() {
    let output = Place::new().run(&[
        "confusion",
        "--tp",
        "500",
        "--fn",
        "0",
        "--fp",
        "0",
        "--tn",
        "500",
        "--claim",
        "advantage(0.99)",
    ]);
    let text = stdout(&output);
    assert!(
        text.contains("INCONCLUSIVE") && !text.contains("would not settle"),
        "{text}"
    );
}

#[test]
fn a_capture_of_packets_is_named() {
    let mut bytes = vec![0xd4, 0xc3, 0xb2, 0xa1];
    bytes.resize(200, 7);
    let place = Place::new().file("visit.pcap", bytes);
    let error = refused(&place, &["estimate", "visit.pcap"]);
    assert!(error.contains("capture of packets"), "{error}");
}

/// A matrix of 8-byte numbers as NumPy writes it.
fn array(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Vec<u8> {
    let text =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let length = 128 - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(format!("{text:<0$}\n", length - 1).bytes());
    let cells = (0..rows * columns).map(|at| value(at / columns, at % columns));
    bytes.extend(cells.flat_map(f64::to_le_bytes));
    bytes
}

#[test]
fn an_array_has_no_header_and_may_be_a_channel() {
    let place = Place::new().file(
        "wide.npy",
        array(300, 3, |row, column| noise(7 * row + column)),
    );
    let report = place.json(&["check", "wide.npy", "--wide"]);
    assert_eq!(report["input"]["rows"], 900, "{report:#}");
    let kept = |secret: usize, seen: usize| if secret == seen { 0.75 } else { 0.25 };
    let place = Place::new().file("channel.npy", array(2, 2, kept));
    let report = place.json(&["channel", "channel.npy"]);
    assert_eq!(report["total_variation"], 0.5, "{report:#}");
}

/// Its header, its rule and its footer are no messages.
#[test]
fn a_table_as_a_database_prints_it_is_no_list() {
    let text =
        " illness | count \n---------+-------\n flu     |   837\n cold    |   670\n(2 rows)\n";
    let place = Place::new().file("counts.txt", text);
    let command = [
        "shuffle",
        "reidentify",
        "--target",
        "counts.txt",
        "--decoys",
        "uniform",
        "--n",
        "20",
    ];
    let error = refused(&place, &command);
    assert!(
        error.contains("as it is printed") && error.contains("CSV HEADER"),
        "{error}"
    );
}

/// Two of 16 values are compared, and every report is about all.
#[test]
fn reports_of_more_bits_than_values_ask_for_all_values() {
    let log = lines("secret,report", 400, |at| {
        let own = at % 2 * 7;
        let bit = |place: usize| noise(16 * at + place) < if place == own { 0.62 } else { 0.38 };
        let bits: String = (0..16)
            .map(|place| if bit(place) { '1' } else { '0' })
            .collect();
        format!("{own},{bits}")
    });
    let place = Place::with_log(log);
    let audit = |claim| ["audit", "log.csv", "--quick", "--claim", claim];
    let error = refused(&place, &audit("rappor(epsilon=1)"));
    assert!(
        error.contains("2 bits") && error.contains("secrets=16"),
        "{error}"
    );
    let text = stdout(&place.run(&audit("rappor(epsilon=1, secrets=16)")));
    assert!(!text.contains("does not fit"), "{text}");
}

/// Numbers as languages print them, and amounts of money: read as numbers, or refused with the reason.
#[test]
fn printed_numbers_and_money_are_numbers() {
    let log = |cell: &dyn Fn(f64) -> String| {
        let mut rng = rng(3);
        let rows: String = (0..400)
            .map(|_| {
                let (secret, noise) = (rng.random_range(0..2), rng.random::<f64>());
                let number = 900.0 + 20.0 * noise + 60.0 * f64::from(secret);
                format!("{}\t{}\n", ["a", "b"][secret as usize], cell(number))
            })
            .collect();
        Place::new().file("log.tsv", format!("secret\tx\n{rows}"))
    };
    let forms: [(&str, &dyn Fn(f64) -> String); 5] = [
        ("`$`", &|x| format!("${x:.2}")),
        ("`np.float64()`", &|x| format!("np.float64({x})")),
        ("`Decimal()`", &|x| format!("Decimal('{x:.3}')")),
        ("`tensor()`", &|x| format!("tensor({x:.4})")),
        ("`req/s`", &|x| format!("{x:.1} req/s")),
    ];
    for (unit, form) in forms {
        let text = stdout(&log(form).run(&["estimate", "log.tsv", "--quick"]));
        assert!(text.contains(unit) && text.contains("LEAK  "), "{text}");
        assert!(!text.contains("NO LEAK"), "{text}");
    }
    let thousands = log(&|x| format!("$1,{x:.2}"));
    thousands.refuses(&["estimate", "log.tsv"], &["thousands separators"]);
}

/// Where some have another unit, or none is there, numbers are refused, asked about, or read; nothing holds of their texts.
#[test]
fn numbers_that_are_read_as_labels_hold_nothing() {
    let log = |rows: usize, cell: &dyn Fn(usize, f64) -> String| {
        let mut rng = rng(4);
        let rows: String = (0..rows)
            .map(|row| {
                let (secret, noise) = (rng.random_range(0..2), rng.random::<f64>());
                let number = (20.0 * noise + 2.0 * f64::from(secret)) * 10.0;
                format!("{}\t{}\n", ["a", "b"][secret as usize], cell(row, number))
            })
            .collect();
        Place::new().file("log.tsv", format!("secret\tx\n{rows}"))
    };
    let claim = [
        "audit",
        "log.tsv",
        "--quick",
        "--claim",
        "attack-advantage(0.3)",
    ];
    // A value that is not there is no other unit.
    let missing = log(2_000, &|row, x| match row % 50 {
        0 => "nan".to_owned(),
        _ => format!("{x:.1} req/s"),
    });
    let text = stdout(&missing.run(&claim));
    assert!(
        text.contains("holds numbers with a unit, `req/s`"),
        "{text}"
    );
    let several = log(2_000, &|row, x| match row % 2 {
        0 => format!("{x:.1} req/min"),
        _ => format!("{x:.1} req/s"),
    });
    several.refuses(&claim, &["several units"]);
    let sometimes = log(2_000, &|row, x| match row % 10 {
        0..3 => format!("{x:.0}"),
        _ => format!("np.float64({x:.0})"),
    });
    let output = sometimes.run(&claim);
    assert_ne!(output.status.code(), Some(0), "{}", stdout(&output));
}
