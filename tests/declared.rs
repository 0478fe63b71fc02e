//! Logs that name their columns in a line that begins with `#`, and comments among rows.

use crate::common::{Place, observed};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

#[test]
fn a_log_of_zeek_is_read_by_its_declared_columns() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut text = "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n\
                    #fields\tts\tservice\tduration\n#types\ttime\tstring\tinterval\n"
        .to_owned();
    let mut now = 1_764_270_000.0;
    for _ in 0..400 {
        now += rng.random::<f64>();
        let service = ["dns", "http"][rng.random_range(0..2)];
        match rng.random_range(0..10) {
            0 => text.push_str(&format!("{now:.6}\t{service}\t-\n")),
            _ => text.push_str(&format!(
                "{now:.6}\t{service}\t{:.6}\n",
                rng.random::<f64>()
            )),
        }
    }
    text.push_str("#close\t2026-11-29-11-00-00\n");
    let place = Place::new().file("conn.log", text);
    let report = place.json(&["estimate", "conn.log", "--secret", "service", "--quick"]);
    assert_eq!(report["input"]["rows"], 400);
    assert_eq!(observed(&report), ["duration"]);
    let notes = report["input"]["notes"].to_string();
    assert!(notes.contains("#fields names the columns"), "{notes}");
    let refused = ["estimate", "conn.log", "--secret", "1", "--no-header"];
    place.refuses(&refused, &["names its columns"]);
}

#[test]
fn a_log_in_the_extended_format_is_read_by_its_declared_columns() {
    let header = "#Software: Microsoft Internet Information Services 10.0\r\n#Version: 1.0\r\n\
                  #Fields: date time cs-method time-taken\r\n";
    let rows = |from: usize| -> String {
        let row = |at: usize| {
            let method = ["GET", "POST"][at * 7 % 5 % 2];
            format!(
                "2026-11-29 10:{:02}:{:02} {method} {}\r\n",
                at / 60,
                at % 60,
                20 + at * 31 % 17
            )
        };
        (from..from + 100).map(row).collect()
    };
    let text = format!("{header}{}{header}{}", rows(0), rows(100));
    let place = Place::new().file("iis.log", text);
    let report = place.json(&["estimate", "iis.log", "--secret", "cs-method", "--quick"]);
    assert_eq!(report["input"]["rows"], 200);
    assert_eq!(observed(&report), ["time-taken"]);
    let other = format!(
        "{header}{}#Fields: date time cs-method\r\n2026-11-29 10:00:00 GET\r\n",
        rows(0)
    );
    let place = Place::new().file("iis.log", other);
    let message = ["declares other columns behind row 100"];
    place.refuses(&["estimate", "iis.log", "--secret", "cs-method"], &message);
}
