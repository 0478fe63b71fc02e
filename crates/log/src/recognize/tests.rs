use super::*;

fn found(name: &str, text: &str) -> Option<Form> {
    let rows: Vec<Row> = text
        .lines()
        .map(|line| Row::of_texts(line.split(',')))
        .collect();
    form_of(name, &rows, &ReadOptions::default())
}

#[test]
fn a_form_needs_its_name_and_its_shape() {
    let wide = "valid,invalid\n0.1,0.2\n0.3,0.4\n";
    assert_eq!(
        found("out/timing.csv.gz", wide),
        Some(Form::TlsfuzzerTiming)
    );
    assert_eq!(found("times.csv", wide), None);
    assert_eq!(found("timing.csv", "secret,time\n1,0.2\n"), None);
    assert_eq!(found("timing.csv", "a,b\nx,0.2\n"), None);
    let blocks = "0,256,0.1\n0,255,0.2\n1,256,0.3\n";
    assert_eq!(
        found("measurements.csv", blocks),
        Some(Form::TlsfuzzerMeasurements)
    );
    assert_eq!(found("log.csv", blocks), None);
    assert_eq!(found("measurements.csv", "1,256,0.1\n0,255,0.2\n"), None);
}

#[test]
fn two_classes_are_zero_and_one_before_a_measurement() {
    let rows = |class: &dyn Fn(u32) -> u32, value: &dyn Fn(u32) -> u32| -> String {
        let row = |at| format!("{},{}\n", class(at), value(at));
        (0..60).map(row).collect()
    };
    let dump = rows(&|at| at % 2, &|at| at * 7 % 59);
    assert_eq!(found("x", &dump), Some(Form::TwoClasses));
    assert_eq!(
        found("x", &format!("class,ticks\n{dump}")),
        Some(Form::TwoClasses)
    );
    assert_eq!(found("x", &format!("bit,ticks\n{dump}")), None);
    assert_eq!(found("x", &rows(&|at| at % 3, &|at| at * 7)), None);
    // A bit observed of numbered secrets is no class of a measurement.
    assert_eq!(found("x", &rows(&|at| at % 2, &|at| at % 10)), None);
    assert_eq!(found("x", &rows(&|at| at * 7, &|at| at % 2)), None);
    // The direction of a packet, and when it came.
    assert_eq!(found("x", &rows(&|at| at % 2, &|at| at * 7)), None);
}

#[test]
fn a_probed_log_keeps_its_blocks_where_an_answer_is_asked_for() {
    let asked = |secret: Option<&str>, observe: &[&str]| ReadOptions {
        secret: secret.map(str::to_owned),
        observe: Some(observe.iter().map(|&name| name.to_owned()).collect()),
        ..ReadOptions::default()
    };
    assert!(has_no_other_parts(&ReadOptions::default()));
    assert!(has_no_other_parts(&asked(None, &["time_ns"])));
    assert!(has_no_other_parts(&asked(Some("secret"), &["4", "5"])));
    assert!(!has_no_other_parts(&asked(None, &["block"])));
    assert!(!has_no_other_parts(&asked(Some("block"), &["time_ns"])));
}
