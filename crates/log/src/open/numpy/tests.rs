//! Arrays that are whole, broken, lying, and sets of them.

use std::io::Cursor;

use super::*;

/// An array as NumPy writes it.
fn npy(descr: &str, order: &str, shape: &str, items: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut file = MAGIC.to_vec();
    file.extend([1, 0]);
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(items);
    file
}

fn rows(file: Vec<u8>) -> std::result::Result<Vec<String>, String> {
    let options = ReadOptions::default();
    let mut numpy = Numpy::new("x.npy", Format::Npy, Box::new(Cursor::new(file)), &options)
        .map_err(|error| error.to_string())?;
    let (mut rows, mut row) = (Vec::new(), Row::new());
    while numpy.next(&mut row).map_err(|error| error.to_string())? {
        rows.push(row.joined());
    }
    Ok(rows)
}

#[test]
fn items_are_read_in_either_order_of_bytes_and_of_rows() {
    let floats: Vec<u8> = [1.5f64, -2.0, 3.0, 0.25]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    assert_eq!(
        rows(npy("'<f8'", "False", "(2, 2)", &floats)).unwrap(),
        ["1.5,-2", "3,0.25"]
    );
    assert_eq!(
        rows(npy("'<f8'", "True", "(2, 2)", &floats)).unwrap(),
        ["1.5,3", "-2,0.25"]
    );
    assert_eq!(
        rows(npy("'>i2'", "False", "(2,)", &[0xff, 0xfe, 0, 7])).unwrap(),
        ["-2", "7"]
    );
    assert_eq!(
        rows(npy("'|u1'", "False", "(1,)", &[200])).unwrap(),
        ["200"]
    );
    assert_eq!(
        rows(npy("'|b1'", "False", "(2,)", &[0, 1])).unwrap(),
        ["false", "true"]
    );
    assert_eq!(
        rows(npy("'<f4'", "False", "(1,)", &0.1f32.to_le_bytes())).unwrap(),
        ["0.1"]
    );
    assert_eq!(
        rows(npy("'<U2'", "False", "(1,)", b"\xe9\0\0\0\0\0\0\0")).unwrap(),
        ["é"]
    );
    let records = npy(
        "[('secret', '|S2'), ('t', '<u2')]",
        "False",
        "(2,)",
        b"ab\x01\0c\0\0\x01",
    );
    assert_eq!(rows(records).unwrap(), ["secret,t", "ab,1", "c,256"]);
}

/// An archive of one array of zeros.
fn zeros(bytes: usize) -> Vec<u8> {
    use std::io::Write;
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    archive.start_file("x.npy", options).unwrap();
    let shape = format!("({bytes},)");
    archive
        .write_all(&npy("'|u1'", "False", &shape, &vec![0; bytes]))
        .unwrap();
    archive.finish().unwrap().into_inner()
}

#[test]
fn an_archive_that_unpacks_to_far_more_than_it_has_is_refused() {
    let options = ReadOptions::default();
    let read =
        |file: Vec<u8>| Numpy::new("x.npz", Format::Npz, Box::new(Cursor::new(file)), &options);
    assert!(read(zeros(1 << 20)).is_ok());
    let Err(refused) = read(zeros(80 << 20)) else {
        panic!("80 MiB of zeros");
    };
    assert!(refused.to_string().contains("hold in memory"), "{refused}");
}

#[test]
fn broken_and_foreign_arrays_are_refused() {
    for (file, words) in [
        (npy("'<f8'", "False", "(2,)", &[0; 15]), "not as long"),
        (npy("'|O'", "False", "(1,)", &[0; 8]), "no numbers or texts"),
        (
            npy("'<c16'", "False", "(1,)", &[0; 16]),
            "no numbers or texts",
        ),
        (npy("'<f8'", "False", "()", &[0; 8]), "0 dimensions"),
        (
            npy("'<f8'", "False", "(18446744073709551615, 9)", &[]),
            "not as long",
        ),
        (npy("'<f8", "False", "(1,)", &[0; 8]), "broken header"),
        (MAGIC.to_vec(), "broken header"),
        (b"\x93NUMPY\x01\0\xff\xff{".to_vec(), "broken header"),
    ] {
        let problem = rows(file).unwrap_err();
        assert!(problem.contains(words), "{problem}");
    }
}

/// An archive of arrays of bytes: names, and rows and columns.
fn archive(arrays: &[(&str, &[usize])]) -> Vec<u8> {
    use std::io::Write;
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, shape) in arrays {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(format!("{name}.npy"), options).unwrap();
        let items: Vec<u8> = (0..shape.iter().product::<usize>())
            .map(|at| at as u8)
            .collect();
        let shape: String = shape.iter().map(|length| format!("{length},")).collect();
        let array = npy("'|u1'", "False", &format!("({shape})"), &items);
        archive.write_all(&array).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// The first two rows and the note of an archive; why it is refused.
fn begin(
    arrays: &[(&str, &[usize])],
    options: &ReadOptions,
) -> std::result::Result<String, String> {
    let file = Box::new(Cursor::new(archive(arrays)));
    let said = |error: Error| format!("{} {}", error.problem(), error.hint().unwrap_or_default());
    let mut numpy = Numpy::new("x.npz", Format::Npz, file, options).map_err(said)?;
    let (mut text, mut row) = (String::new(), Row::new());
    for _ in 0..2 {
        numpy.next(&mut row).map_err(said)?;
        let fields: Vec<String> = row
            .fields()
            .map(|field| field.text().into_owned())
            .collect();
        text += &(fields.join(",") + " ");
    }
    Ok(text + &numpy.note().unwrap_or_default())
}

const SET: &[(&str, &[usize])] = &[
    ("textin", &[5, 2]),
    ("traces", &[5, 3]),
    ("labels", &[5]),
    ("rate", &[]),
];

fn asked(observe: Option<&str>, secret: Option<&str>) -> ReadOptions {
    ReadOptions {
        observe: observe.map(|name| vec![name.to_owned()]),
        secret: secret.map(str::to_owned),
        ..ReadOptions::default()
    }
}

#[test]
fn a_matrix_is_read_with_the_arrays_of_its_length() {
    let read = begin(SET, &asked(Some("traces"), Some("labels"))).unwrap();
    let row = "textin[1],textin[2],traces[1],traces[2],traces[3],labels 0,1,0,1,2,0 ";
    assert_eq!(
        read,
        row.to_owned() + "Arrays that have no item for each row are left out: rate."
    );
    let plain = begin(
        &[("x", &[4, 2]), ("y", &[4]), ("rest", &[2])],
        &asked(None, None),
    )
    .unwrap();
    assert!(plain.starts_with("x[1],x[2],y 0,1,0 Arrays"), "{plain}");
    // Labels in a file of their own are none of the arrays.
    let apart = ReadOptions {
        secret_from: Some("labels.npy".into()),
        ..asked(None, Some("2"))
    };
    assert_eq!(begin(&[("x", &[4, 2])], &apart).unwrap(), "x[1],x[2] 0,1 ");
}

#[test]
fn matrices_of_one_kind_are_classes() {
    let read = begin(
        &[("fixed", &[3, 2]), ("random", &[4, 2])],
        &asked(None, None),
    )
    .unwrap();
    assert_eq!(
        read,
        "1,2,secret 0,1,fixed The secret of a row is the array that it stands in: fixed, random."
    );
}

#[test]
fn what_is_observed_has_to_be_clear() {
    let unclear = begin(SET, &asked(None, None)).unwrap_err();
    assert!(
        unclear.contains("which of its arrays are observed"),
        "{unclear}"
    );
    assert!(unclear.contains("traces (5 × 3)"), "{unclear}");
    assert!(
        unclear.contains("say `observe = traces` and `secret = labels`"),
        "{unclear}"
    );
    let two: &[(&str, &[usize])] = &[("xa", &[5, 2]), ("ya", &[5]), ("xb", &[3, 2]), ("yb", &[3])];
    let uneven = begin(two, &asked(None, None)).unwrap_err();
    assert!(uneven.contains("arrays of 3 and of 5 rows"), "{uneven}");
    assert!(
        uneven.contains("say `observe = xa` and `secret = ya`"),
        "{uneven}"
    );
    assert!(begin(two, &asked(Some("xb"), Some("yb"))).is_ok());
    let mixed = begin(two, &asked(Some("xb"), Some("ya"))).unwrap_err();
    assert!(mixed.contains("arrays of 3 and of 5 rows"), "{mixed}");
    let scalar = begin(SET, &asked(Some("traces"), Some("rate"))).unwrap_err();
    assert!(
        scalar.contains("array `rate`: has 0 dimensions"),
        "{scalar}"
    );
}

#[test]
fn an_array_that_lies_about_its_length_is_refused_in_little_memory() {
    let short = rows(npy("'|u1'", "False", "(4, 2)", &[0; 7])).unwrap_err();
    assert!(short.contains("has 3 of 4 rows"), "{short}");
    let long = rows(npy("'|u1'", "False", "(3, 2)", &[0; 7])).unwrap_err();
    assert!(long.contains("goes on behind the last row"), "{long}");
    let wide = rows(npy("'|S4000000000'", "False", "(3, 2)", &[0; 7])).unwrap_err();
    assert!(wide.contains("not as long"), "{wide}");
    let huge = rows(npy("'|u1'", "False", "(4000000000, 90000)", &[0; 7])).unwrap_err();
    assert!(huge.contains("has 0 of"), "{huge}");
}
