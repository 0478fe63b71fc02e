//! The data that the figures share with the README.

#[test]
fn the_crescents_are_those_of_the_figure() {
    let options = leakgauge::reproduce::ReproduceOptions::default();
    let figure = leakgauge::reproduce::entry("dsigma-figure-1")
        .unwrap()
        .reproduce(&options)
        .unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/datasets/crescents.csv");
    assert_eq!(
        figure.pictures[0].table.to_csv().unwrap(),
        std::fs::read_to_string(path).unwrap()
    );
}
