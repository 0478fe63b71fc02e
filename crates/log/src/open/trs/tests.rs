//! Trace sets that are whole, cut off, lying.

use std::io::Cursor;

use super::*;

/// A tag with its value.
fn tag(tag: u8, value: &[u8]) -> Vec<u8> {
    [&[tag, value.len() as u8], value].concat()
}

/// A set of two traces of three samples, with a title of two letters and two bytes of data.
fn set(traces: u32, samples: u32, coding: u8, items: &[u8]) -> Vec<u8> {
    let long = [&[0x47, 0x81, 200][..], &[b'x'; 200]].concat();
    let header = [
        long,
        tag(TRACES, &traces.to_le_bytes()),
        tag(SAMPLES, &samples.to_le_bytes()),
        tag(CODING, &[coding]),
        tag(DATA, &[2, 0]),
        tag(TITLE, &[2]),
        tag(END, &[]),
    ];
    [&header.concat()[..], items].concat()
}

fn read(file: Vec<u8>, secret: Option<&str>) -> std::result::Result<Vec<String>, String> {
    let options = ReadOptions {
        secret: secret.map(str::to_owned),
        ..ReadOptions::default()
    };
    let said = |error: Error| format!("{} {}", error.problem(), error.hint().unwrap_or_default());
    let mut set = TraceSet::new("x.trs", Box::new(Cursor::new(file)), &options).map_err(said)?;
    let (mut rows, mut row) = (Vec::new(), Row::new());
    while set.next(&mut row).map_err(said)? {
        rows.push(row.joined());
    }
    Ok(rows)
}

#[test]
fn samples_of_every_coding_are_read_beside_what_is_named() {
    let bytes = [
        b"t1",
        &[7, 200][..],
        &[1, 0xff, 0x80],
        b"t\0",
        &[8, 9],
        &[4, 5, 6],
    ]
    .concat();
    let rows = read(set(2, 3, 1, &bytes), Some("data[2]")).unwrap();
    assert_eq!(rows, ["1,2,3,data[2]", "1,-1,-128,200", "4,5,6,9"]);
    let titles = read(set(2, 3, 1, &bytes), Some("title")).unwrap();
    assert_eq!(titles[1..], ["1,-1,-128,t1", "4,5,6,t"]);
    let shorts = [b"t1", &[7, 8][..], &[0, 0x80]].concat();
    assert_eq!(
        read(set(1, 1, 2, &shorts), Some("title")).unwrap()[1],
        "-32768,t1"
    );
    let float = [b"t1", &[7, 8][..], &0.1f32.to_le_bytes()].concat();
    assert_eq!(
        read(set(1, 1, 0x14, &float), Some("title")).unwrap()[1],
        "0.1,t1"
    );
}

#[test]
fn parameters_of_a_trace_have_their_names() {
    let parameter = |name: &str, code: u8, number: u16, from: u16| {
        let length = (name.len() as u16).to_le_bytes();
        [
            &length,
            name.as_bytes(),
            &[code],
            &number.to_le_bytes(),
            &from.to_le_bytes(),
        ]
        .concat()
    };
    let header = |parameters: &[Vec<u8>], data: u8| {
        let number = (parameters.len() as u16).to_le_bytes();
        let map = [&number[..], &parameters.concat()].concat();
        let tags = [
            tag(TRACES, &[1]),
            tag(SAMPLES, &[1]),
            tag(CODING, &[1]),
            tag(DATA, &[data]),
        ];
        [tags.concat(), tag(PARAMETERS, &map), tag(END, &[])].concat()
    };
    let all = [
        parameter("IN", 1, 2, 0),
        parameter("fixed", 0x31, 1, 2),
        parameter("temp", 0x18, 1, 3),
        parameter("who", 0x20, 3, 11),
        parameter("n", 2, 1, 14),
    ];
    let data = [
        &[3, 250, 1][..],
        &1.5f64.to_le_bytes(),
        b"bob",
        &[0xfe, 0xff],
        &[9],
    ]
    .concat();
    let file = [header(&all, 16), data].concat();
    for (name, value) in [
        ("IN[2]", "250"),
        ("fixed", "true"),
        ("temp", "1.5"),
        ("who", "bob"),
        ("n", "-2"),
    ] {
        let rows = read(file.clone(), Some(name)).unwrap();
        assert_eq!(rows, [format!("1,{name}"), format!("9,{value}")]);
    }
    let asked = read(file, None).unwrap_err();
    assert!(
        asked.contains("IN[1], IN[2], fixed, temp, who, n"),
        "{asked}"
    );
    assert!(asked.contains("secret = 'IN[1]'"), "{asked}");
    // Parameters that overlap a thousand times, or stand behind the data.
    for wrong in [
        parameter("IN", 1, 60_000, 0),
        parameter("IN", 1, 2, 65_535),
        parameter("IN", 9, 1, 0),
    ] {
        assert!(read(header(&[wrong], 16), Some("IN")).is_err());
    }
}

#[test]
fn sets_that_lie_or_end_are_refused() {
    let trace = [b"t1", &[7, 8][..], &[1, 2, 3]].concat();
    let two = trace.repeat(2);
    for (file, words) in [
        (set(3, 3, 1, &two), "ends behind 2 of the 3 traces"),
        (set(1, 3, 1, &two), "goes on behind the 1 traces"),
        (set(4_000_000_000, 3, 1, &two), "ends behind 2 of"),
        (
            set(2, 4_000_000_000, 1, &two),
            "traces of 4000000000 samples",
        ),
        (set(2, 3, 8, &two), "unknown coding 0x08"),
        (set(2, 0, 1, &two), "traces of 0 samples"),
        (vec![TRACES, 4, 0], "broken header"),
        (vec![0x47, 0x84, 255, 255, 255, 255, 0], "broken header"),
        (
            vec![PARAMETERS, 0x84, 255, 255, 255, 255, 0],
            "broken header",
        ),
        (vec![DATA, 8, 1, 2, 3, 4, 5, 6, 7, 8], "broken header"),
        (
            vec![
                DATA, 4, 255, 255, 255, 255, SAMPLES, 1, 1, CODING, 1, 1, END, 0,
            ],
            "too much",
        ),
    ] {
        let problem = read(file, Some("title")).unwrap_err();
        assert!(problem.contains(words), "{problem}, not {words}");
    }
    let none = read(set(2, 3, 1, &two), Some("key")).unwrap_err();
    assert!(none.contains("title, data[1], data[2]"), "{none}");
}
