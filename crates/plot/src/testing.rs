//! What every picture must be, whatever it shows.

/// A label that is markup, long, and has characters that XML cannot hold.
pub(super) fn hostile() -> String {
    format!(
        "<script>alert(\"&amp;'\")</script>\u{0}\u{1b}[31m]]>\u{ffff}{}",
        "very ".repeat(40)
    )
}

/// Well-formed, named, scalable, without scripts, and nothing outside of the sheet.
pub(super) fn check(svg: &str) {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    let root = document.root_element();
    assert!(root.has_tag_name(("http://www.w3.org/2000/svg", "svg")));
    assert!(root.attribute("width").is_none() && root.attribute("viewBox").is_some());
    let child = |name: &str| root.children().find(|node| node.tag_name().name() == name);
    assert!(child("title").is_some() && child("desc").is_some());
    assert!(
        !svg.contains("NaN") && !svg.contains("inf\"") && !svg.contains("#01"),
        "{svg}"
    );
    let size: Vec<f64> = root
        .attribute("viewBox")
        .into_iter()
        .flat_map(|text| text.split(' ').map(|x| x.parse().unwrap()))
        .collect();
    for node in document.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name();
        let known = [
            "svg", "g", "title", "desc", "text", "polyline", "polygon", "rect", "circle", "line",
            "path",
        ];
        assert!(known.contains(&name), "an element {name}");
        for (attribute, most) in [
            ("x", size[2]),
            ("y", size[3]),
            ("cx", size[2]),
            ("cy", size[3]),
        ] {
            if let Some(value) = node.attribute(attribute) {
                let value: f64 = value.parse().unwrap();
                assert!(
                    (0.0..=most).contains(&value),
                    "{attribute} {value} of {name}"
                );
            }
        }
        if name == "text" {
            inside(&node, &size);
        }
    }
}

/// All texts of a picture below its title and description.
pub(super) fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    let texts = document
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")));
    texts
        .map(|node| node.text().unwrap_or_default().trim().to_owned())
        .collect()
}

/// Text stays on the sheet, as far as its width can be told.
fn inside(node: &roxmltree::Node<'_, '_>, size: &[f64]) {
    let number = |name: &str| {
        node.attribute(name)
            .and_then(|x| x.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    let text = node.text().unwrap_or_default().trim();
    let size_of_text = match node.attribute("font-size") {
        Some(_) => number("font-size"),
        None => super::canvas::FONT,
    };
    let width = super::text::ems(text) * size_of_text;
    let (at, most) = match node.attribute("transform") {
        Some(_) => (number("y"), size[3]),
        None => (number("x"), size[2]),
    };
    let (from, to) = match node.attribute("text-anchor") {
        Some("middle") => (at - width / 2.0, at + width / 2.0),
        Some("end") => (at - width, at),
        _ => (at, at + width),
    };
    let upright = node.attribute("transform").is_some();
    let (from, to) = if upright && node.attribute("text-anchor") != Some("middle") {
        (at - (to - at), at - (from - at))
    } else {
        (from, to)
    };
    assert!(
        from >= -1.0 && to <= most + 1.0,
        "{text}: {from}..{to} of {most}"
    );
}
