//! The report about a shuffled log, as a document.

use super::document::Document;
use crate::report::numbers::{at_least, at_most, nearest, plain};
use leakgauge_base::error::shorten;
use leakgauge_base::naming::option;
use leakgauge_exact::permutation::Distance;
use leakgauge_permute::{GroupReport, OrderName, Report};
use leakgauge_plot::{Axis, Caption, Dot, Dots, dots};

/// The number of groups listed in text.
const LISTED: usize = 10;

/// The headline, what stays and the warnings alone.
pub(super) fn brief(report: &Report) -> Document {
    let mut document = Document::default();
    document.paragraph(format!("{}.", headline(report)));
    if let Some(stays) = stays(report) {
        document.paragraph(stays);
    }
    let items = report.warnings.iter().map(|w| w.message.clone());
    document.list(items.collect());
    document
}

/// The share of values that stay in their group, where that is worth a sentence.
fn stays(report: &Report) -> Option<String> {
    let stay = report.groups.stay.filter(|_| !report.within)?;
    Some(format!(
        "{} of the values stay in their group; a uniform shuffle of all rows would leave {} there.",
        percent(stay),
        percent(report.groups.stay_if_uniform)
    ))
}

pub(super) fn document(report: &Report) -> Document {
    let mut document = Document::default();
    document.heading(headline(report));
    body(&mut document, report);
    document
}

/// The same without its first heading.
pub(super) fn body(document: &mut Document, report: &Report) {
    if let Some(stays) = stays(report) {
        document.paragraph(stays);
    }
    document.paragraph(format!(
        "Moved: {}. Stayed: {}.",
        report.moved.join(", "),
        if report.stayed.is_empty() {
            "nothing".to_owned()
        } else {
            report.stayed.join(", ")
        }
    ));
    match &report.out {
        Some(file) => document.paragraph(format!("Written to {file}.")),
        None => document.paragraph(format!(
            "Nothing was written. {} writes the shuffled log to a file.",
            option("out")
        )),
    }
    let mut promise = promise(report);
    if let Some(epsilon) = report.epsilon {
        promise.push_str(&format!(
            " The values themselves are {}-locally differentially private.",
            plain(epsilon, 6)
        ));
    }
    document.paragraph(promise);
    document.table(vec!["figure", "value"], 1, figures(report));
    if !report.within {
        orders(document, report);
    }
    groups(document, report);
    meanings(document, report);
    if !report.warnings.is_empty() {
        document.heading("Warnings");
        let items = report.warnings.iter().map(|w| w.message.clone());
        document.list(items.collect());
    }
}

/// The shares of values that stay in the largest groups, where they were simulated.
pub(super) fn picture(report: &Report) -> Option<String> {
    let largest = largest(report).into_iter();
    let rows = largest.filter_map(|group| {
        let preserved = group.preserved.as_ref()?;
        Some(Dot {
            label: shorten(&group.name),
            point: Some(preserved.mean),
            lower: preserved.eta,
            ..Dot::default()
        })
    });
    let rows: Vec<Dot> = rows.collect();
    let means = rows.iter().filter_map(|row| row.point);
    let top = (1.1 * means.fold(0.0, f64::max)).clamp(0.1, 1.0);
    (!rows.is_empty() && !report.within).then(|| {
        dots(&Dots {
            caption: Caption::new(
                "Values that stay within their group",
                "The mean share of values that stay in each of the largest groups, from simulated shuffles, with the share that \
                 it keeps at least.",
            ),
            x: Axis::linear("share of values that stay").from_to(0.0, top),
            name: "mean, with eta".to_owned(),
            reference_name: String::new(),
            rows,
        })
    })
}

/// The groups that are listed.
fn largest(report: &Report) -> Vec<&GroupReport> {
    let mut groups: Vec<&GroupReport> = report.groups.list.iter().collect();
    groups.sort_by_key(|group| std::cmp::Reverse((group.size, group.width)));
    groups.truncate(LISTED);
    groups
}

pub(super) fn headline(report: &Report) -> String {
    if report.groups.list.iter().all(|group| group.size < 2) {
        return format!(
            "{} rows, and no value moved: no group has two rows",
            report.rows
        );
    }
    if report.within {
        return format!(
            "{} rows, each group shuffled by itself: no value leaves its group",
            report.rows
        );
    }
    format!(
        "{} rows shuffled near a reference order: alpha {} within groups",
        report.rows,
        plain(report.alpha, 6)
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn promise(report: &Report) -> String {
    let groups = report.groups.count;
    let assumption = "This assumes that the columns that stay and the order of the rows reveal nothing about the values.";
    if report.within {
        return format!(
            "For each of the {groups} groups, all orders of its values are equally likely (alpha 0). Which group a value \
             is of is not hidden at all. {assumption}"
        );
    }
    format!(
        "For each of the {groups} groups, with all other values fixed: no order of the group's values makes any output more \
         than {} times as likely as another order does. {assumption}",
        at_most(report.alpha.exp())
    )
}

fn figures(report: &Report) -> Vec<Vec<String>> {
    let groups = &report.groups;
    let line = |name: &str, value: String| vec![name.to_owned(), value];
    let mut lines = vec![line(
        "rows per group: smallest, median, largest",
        format!("{}, {}, {}", groups.smallest, groups.median, groups.largest),
    )];
    if !report.within {
        lines.extend([
            line("width of the widest group", report.width.to_string()),
            line("sensitivity", report.sensitivity.to_string()),
            line(
                "the paper's bound on the sensitivity",
                report.sensitivity_bound.to_string(),
            ),
            line(
                "dispersion theta",
                report
                    .dispersion
                    .map_or_else(|| "infinite".to_owned(), nearest),
            ),
        ]);
    }
    lines
}

fn order_name(name: OrderName) -> &'static str {
    match name {
        OrderName::BreadthFirst => "breadth-first",
        OrderName::ReverseCuthillMckee => "reverse-cuthill-mckee",
        OrderName::TwoEnded => "two-ended",
        OrderName::Sweep => "sweep",
        OrderName::Given => "given",
    }
}

fn orders(document: &mut Document, report: &Report) {
    document.heading("Reference orders");
    let rows = report.orders.iter().map(|order| {
        vec![
            order_name(order.name).to_owned(),
            order.width.to_string(),
            order.kendall_sensitivity.to_string(),
            if order.name == report.order {
                "used".to_owned()
            } else {
                String::new()
            },
        ]
    });
    let header = vec!["order", "width", "sensitivity (Kendall)", ""];
    document.table(header, 1, rows.collect());
    if report.distance == Distance::Hamming {
        document.paragraph("With Hamming distance the guarantee does not depend on the order.");
    }
}

fn groups(document: &mut Document, report: &Report) {
    let groups = &report.groups;
    document.heading(if report.within {
        "Groups"
    } else {
        "Values that stay within their group"
    });
    let hamming = report.distance == Distance::Hamming;
    let mut header = vec!["group", "rows", "width", "alpha of the group"];
    if groups.trials > 0 {
        header.extend(["mean share that stays", "eta at least"]);
    }
    if hamming {
        header.push("P(fails eta)");
    }
    let row = |group: &GroupReport| {
        let mut cells = vec![
            shorten(&group.name),
            group.size.to_string(),
            group.width.to_string(),
            nearest(group.alpha),
        ];
        if let Some(preserved) = &group.preserved {
            cells.push(nearest(preserved.mean));
            cells.push(preserved.eta.map_or_else(String::new, at_least));
        }
        cells.extend(group.failure.map(nearest));
        cells
    };
    document.table(header, 1, largest(report).into_iter().map(row).collect());
    if groups.count > LISTED {
        document.paragraph(format!(
            "The {LISTED} largest of {} groups are shown; the JSON report lists {}.",
            groups.count,
            groups.list.len()
        ));
    }
    if groups.trials > 0 {
        document.paragraph(format!(
            "From {} simulated shuffles: with probability at least {}, a group keeps at least the share eta of its values. \
             Each eta is a limit at confidence {}.",
            groups.trials,
            plain(1.0 - groups.delta, 6),
            plain(groups.confidence, 6)
        ));
    }
    if hamming {
        document.paragraph(format!(
            "P(fails eta): the exact probability that less than the share {} of a group's values stays (Theorem A.4).",
            plain(groups.eta, 6)
        ));
    }
}

fn meanings(document: &mut Document, report: &Report) {
    if !report.subsets.is_empty() {
        document.heading("Locating the values of a subset of a group (Theorem 4.2)");
        let rows = report.subsets.iter().map(|bound| {
            vec![
                bound.group.to_string(),
                bound.subset.to_string(),
                at_most(bound.winning),
            ]
        });
        let header = vec!["rows of the group", "rows of the subset", "success at most"];
        document.table(header, 0, rows.collect());
    }
    if !report.other_groups.is_empty() {
        document.heading("Other groups (Theorem 4.4)");
        let rows = report.other_groups.iter().map(|other| {
            vec![
                other.groups.clone(),
                other.sensitivity.to_string(),
                nearest(other.alpha),
            ]
        });
        document.table(vec!["groups", "sensitivity", "alpha"], 1, rows.collect());
    }
    if !report.composition.previous.is_empty() {
        document.paragraph(format!(
            "All {} earlier releases and this one together: alpha {} (Theorem A.2).",
            report.composition.previous.len(),
            plain(report.composition.alpha, 6)
        ));
    }
}
