//! Columns that are asked for by a pattern.

use crate::common::{Place, observed};

#[test]
fn columns_are_asked_for_by_a_pattern() {
    let row = |at: usize| {
        let secret = ["a", "b"][at * 7 % 5 % 2];
        format!(
            "{secret},{},{},{}\n",
            at * 31 % 17,
            at * 37 % 19,
            at * 41 % 23
        )
    };
    let text = "secret,pkt_1,pkt_2,other\n".to_owned() + &(0..200).map(row).collect::<String>();
    let place = Place::with_log(text);
    for pattern in ["pkt_*", "pkt_1..pkt_2"] {
        let report = place.json(&["estimate", "log.csv", "--quick", "--observe", pattern]);
        assert_eq!(observed(&report), ["pkt_1", "pkt_2"], "{pattern}");
    }
    let none = ["estimate", "log.csv", "--observe", "pkd_*"];
    place.refuses(
        &none,
        &[
            "--observe 'pkd_*'",
            "no column fits",
            "near names: pkt_1, pkt_2",
        ],
    );
    let types = ["estimate", "log.csv", "--quick", "--categorical", "pkt_*"];
    let report = place.json(&types);
    let columns = &report["input"]["observation"]["columns"];
    assert_eq!(columns[0]["type"], "categorical");
    assert_eq!(columns[2]["type"], "numeric");
}
