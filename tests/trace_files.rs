//! Files of traces as labs keep them: sets of Inspector, arrays of a class each, labels of many columns.

use leakgauge_testing::rng;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use crate::common::{Place, stderr, stdout};

const ROWS: usize = 300;
const SAMPLES: usize = 12;

/// Traces whose fourth sample is larger by 8 where the lowest bit of the second byte of the input is set.
fn traces() -> (Vec<[i8; SAMPLES]>, Vec<[u8; 4]>) {
    let mut rng = rng(21);
    let inputs: Vec<[u8; 4]> = (0..ROWS)
        .map(|_| {
            let mut input = [0; 4];
            input.iter_mut().for_each(|byte| *byte = rng.random::<u8>());
            input[1] &= 1;
            input
        })
        .collect();
    let trace = |input: &[u8; 4]| {
        let mut trace = [0; SAMPLES];
        for (at, sample) in trace.iter_mut().enumerate() {
            let noise: f64 = StandardNormal.sample(&mut rng);
            let shift = if at == 3 {
                8.0 * f64::from(input[1])
            } else {
                0.0
            };
            *sample = (10.0 * noise + shift).clamp(-127.0, 127.0) as i8;
        }
        trace
    };
    (inputs.iter().map(trace).collect(), inputs)
}

fn npy(descr: &str, shape: &str, items: Vec<u8>) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(items);
    file
}

fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    use std::io::Write;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, array) in arrays {
        let options = zip::write::SimpleFileOptions::default();
        archive
            .start_file(format!("{name}.npy"), options)
            .expect("memory");
        archive.write_all(array).expect("memory");
    }
    archive.finish().expect("memory").into_inner()
}

fn matrix(rows: &[[i8; SAMPLES]]) -> Vec<u8> {
    let items = rows.iter().flatten().map(|value| value.cast_unsigned());
    npy(
        "|i1",
        &format!("({}, {SAMPLES})", rows.len()),
        items.collect(),
    )
}

/// A trace set as Inspector writes it, with parameters of a trace: four bytes of input and a temperature.
fn trace_set(traces: &[[i8; SAMPLES]], inputs: &[[u8; 4]]) -> Vec<u8> {
    let tag = |tag: u8, value: &[u8]| [&[tag, value.len() as u8], value].concat();
    let parameters = b"\x02\0\x05\0INPUT\x01\x04\0\0\0\x04\0temp\x14\x01\0\x04\0";
    let mut file = [
        tag(0x46, b"trace"),
        tag(0x41, &(traces.len() as u32).to_le_bytes()),
        tag(0x42, &(SAMPLES as u32).to_le_bytes()),
        tag(0x43, &[1]),
        tag(0x44, &[8, 0]),
        tag(0x45, &[4]),
        tag(0x77, parameters),
        tag(0x5f, &[]),
    ]
    .concat();
    for (trace, input) in traces.iter().zip(inputs) {
        file.extend(b"t\0\0\0");
        file.extend(input);
        file.extend(1.5f32.to_le_bytes());
        file.extend(trace.iter().map(|sample| sample.cast_unsigned()));
    }
    file
}

fn place() -> Place {
    let (traces, inputs) = traces();
    let class = |bit: u8| -> Vec<[i8; SAMPLES]> {
        let both = traces.iter().zip(&inputs);
        both.filter(|(_, input)| input[1] == bit)
            .map(|(trace, _)| *trace)
            .collect()
    };
    let texts: String = inputs
        .iter()
        .map(|input| format!("{},{}\n", input[0], input[1]))
        .collect();
    let all_inputs = npy("|u1", &format!("({ROWS}, 4)"), inputs.concat());
    let set = [
        ("traces", matrix(&traces)),
        ("textin", all_inputs.clone()),
        ("rate", npy("<f8", "()", 1e6f64.to_le_bytes().to_vec())),
    ];
    let classes = [("fixed", matrix(&class(0))), ("random", matrix(&class(1)))];
    let lines: String = inputs
        .iter()
        .map(|input| format!("{}\n", input[1]))
        .collect();
    Place::with_log("secret,x\n")
        .file("traces.npy", matrix(&traces))
        .file("textin.npy", all_inputs)
        .file("textin.csv", "first,second\n".to_owned() + &texts)
        .file("labels.txt", lines)
        .file("set.npz", npz(&set))
        .file("classes.npz", npz(&classes))
        .file("set.trs", trace_set(&traces, &inputs))
        .file("cut.trs", &trace_set(&traces, &inputs)[..2000])
}

/// The same traces with the same secrets give the same figures, whatever file they come in.
#[test]
fn the_same_traces_in_any_file_give_the_same_limits() {
    let place = place();
    let limits = |arguments: &[&str]| {
        let arguments = [&["estimate"], arguments, &["--budget", "1s"]].concat();
        let report = place.json(&arguments);
        let tv = &report["worst_pair"]["total_variation"];
        assert_eq!(
            report["leaking_columns"]["tested"], SAMPLES,
            "{arguments:?}"
        );
        (tv["lower"].clone(), tv["point"].clone())
    };
    let plain = limits(&["traces.npy", "--secret-from", "labels.txt"]);
    for arguments in [
        &["traces.npy", "--secret-from", "textin.npy", "--secret", "2"][..],
        &[
            "traces.npy",
            "--secret-from",
            "textin.csv",
            "--secret",
            "second",
        ],
        &["traces.npy", "--secret-from", "textin.csv", "--secret", "2"],
        &[
            "traces.npy",
            "--secret-from",
            "set.npz",
            "--secret",
            "textin[2]",
        ],
        &["set.npz", "--observe", "traces", "--secret", "textin[2]"],
        &[
            "set.npz",
            "--observe",
            "traces",
            "--secret-from",
            "labels.txt",
        ],
        &["set.trs", "--secret", "INPUT[2]"],
        &["set.trs", "--secret-from", "labels.txt"],
    ] {
        assert_eq!(limits(arguments), plain, "{arguments:?}");
    }
}

#[test]
fn arrays_of_one_kind_are_classes_and_said_to_be() {
    let place = place();
    let output = place.run(&["check", "classes.npz"]);
    let text = stdout(&output);
    assert!(text.contains("fixed, random"), "{text}{}", stderr(&output));
    assert!(text.contains("the array that it stands in"), "{text}");
}

#[test]
fn what_is_not_clear_is_asked_with_the_options_that_say_it() {
    let place = place();
    place.refuses(
        &["estimate", "set.npz"],
        &[
            "which of its arrays are observed",
            "--observe traces",
            "--secret 'textin[1]'",
        ],
    );
    place.refuses(
        &["estimate", "set.trs"],
        &[
            "what the secret is",
            "INPUT[1]",
            "temp",
            "--secret 'INPUT[1]'",
        ],
    );
    place.refuses(
        &["estimate", "set.trs", "--secret", "key"],
        &["--secret key", "INPUT[4]"],
    );
    place.refuses(
        &["estimate", "cut.trs", "--secret", "INPUT[2]"],
        &["ends behind", "of the 300 traces"],
    );
    place.refuses(
        &["check", "traces.npy", "--secret-from", "textin.npy"],
        &["4 fields where one secret belongs", "--secret COLUMN"],
    );
    for column in ["5", "third", "0"] {
        place.refuses(
            &[
                "check",
                "traces.npy",
                "--secret-from",
                "textin.npy",
                "--secret",
                column,
            ],
            &["textin.npy", "no such column"],
        );
    }
    place.refuses(
        &[
            "check",
            "traces.npy",
            "--secret-from",
            "file",
            "--secret",
            "1",
        ],
        &["cannot be together"],
    );
}
