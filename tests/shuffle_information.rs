//! Mutual information of the shuffle model against values computed elsewhere to 30 digits.

use leakgauge::exact::channel::{Channel, Prior};
use leakgauge::exact::mechanism;
use leakgauge::exact::shuffle::information::{
    Basic, Blanket, Question, Reports, Signal, StoppingRule, Users, message_coefficient,
    optimal_decoys, privacy_bounds, survey_reports,
};
use serde_json::Value;

fn entries(kind: &str) -> Vec<Value> {
    let text = include_str!("golden/shuffle_information.json");
    let table: Value = serde_json::from_str(text).unwrap();
    let all = table["entries"].as_array().unwrap();
    let found: Vec<Value> = all.iter().filter(|e| e["kind"] == kind).cloned().collect();
    assert!(!found.is_empty(), "no entries of kind {kind}");
    found
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|x| x.as_f64().unwrap()).collect()
}

fn n_of(entry: &Value) -> u64 {
    entry["params"]["n"].as_u64().unwrap()
}

/// The tolerance of the tables; their inputs are rounded to doubles, which costs 1e-16 in absolute terms.
fn check(entry: &Value, what: &str, computed: f64) {
    let expected = entry["values"][what].as_f64().expect(what);
    let many = entry["params"]["n"].as_u64().is_some_and(|n| n >= 100);
    let tolerance = if many { 1e-10 } else { 1e-12 } * expected.abs() + 2e-16;
    assert!(
        (computed - expected).abs() <= tolerance,
        "{}, {what}: {computed:e}, not {expected:e}",
        entry["id"]
    );
}

fn krr(k: usize, weight: f64) -> Channel {
    let whole = weight + k as f64 - 1.0;
    let row = |x| {
        (0..k)
            .map(|y| if x == y { weight / whole } else { 1.0 / whole })
            .collect()
    };
    Channel::from_rows(&(0..k).map(row).collect::<Vec<Vec<f64>>>()).unwrap()
}

#[test]
fn decoys_of_the_target_s_law() {
    for entry in entries("P_eq_Q") {
        let law = numbers(&entry["params"]["P"]);
        let (basic, n) = (Basic::new(&law, &law).unwrap(), n_of(&entry));
        check(&entry, "I_Y1_Z", basic.message(n).unwrap());
        check(&entry, "asymptotic", basic.message_asymptotic(n).unwrap());
        assert_eq!(basic.position(n).unwrap(), 0.0);
        assert_eq!(basic.position_asymptotic(n).unwrap(), 0.0);
    }
}

#[test]
fn decoys_that_send_whatever_the_target_may() {
    for entry in entries("P_ll_Q") {
        let (p, q) = (
            numbers(&entry["params"]["P"]),
            numbers(&entry["params"]["Q"]),
        );
        let (basic, n) = (Basic::new(&p, &q).unwrap(), n_of(&entry));
        check(&entry, "I_K_Z", basic.position(n).unwrap());
        check(&entry, "I_Y1_Z", basic.message(n).unwrap());
        check(&entry, "asym_I_K_Z", basic.position_asymptotic(n).unwrap());
        check(&entry, "asym_I_Y1_Z", basic.message_asymptotic(n).unwrap());
        let c = basic.coefficients();
        check(&entry, "D_KL", c.divergence);
        check(&entry, "chi2", c.chi_squared);
        check(&entry, "coef_Y", c.message);
        check(&entry, "second_order_coef_K", c.second_order);
    }
}

#[test]
fn decoys_that_cannot_send_all_the_target_may() {
    for entry in entries("P_not_ll_Q") {
        let (p, q) = (
            numbers(&entry["params"]["P"]),
            numbers(&entry["params"]["Q"]),
        );
        let (basic, n) = (Basic::new(&p, &q).unwrap(), n_of(&entry));
        check(&entry, "I_K_Z", basic.position(n).unwrap());
        check(&entry, "I_Y1_Z", basic.message(n).unwrap());
        check(&entry, "asym_I_K_Z", basic.position_asymptotic(n).unwrap());
        check(&entry, "asym_I_Y1_Z", basic.message_asymptotic(n).unwrap());
        check(&entry, "beta", basic.coefficients().revealed);
    }
}

#[test]
fn randomized_response_with_uniform_inputs() {
    for entry in entries("krr_uniform") {
        let k = entry["params"]["k"].as_u64().unwrap() as usize;
        let (epsilon, n) = (entry["params"]["eps"].as_f64().unwrap(), n_of(&entry));
        let text = format!("randomized-response(epsilon={epsilon}, secrets={k})");
        let channel = Channel::of_mechanism(&*mechanism::parse(&text).unwrap()).unwrap();
        let uniform = Prior::uniform(k);
        let among = Signal::among(&channel, &uniform, &uniform).unwrap();
        check(&entry, "I_X1_Z", among.information(n).unwrap());
        check(&entry, "chi2bar", among.coefficient());
        check(&entry, "asym", among.coefficient() / (2 * n) as f64);
        let blanket = Signal::blanket(&channel, &uniform).unwrap();
        if entry["values"]["I_X1_Zr_blanket"].is_number() {
            check(&entry, "I_X1_Zr_blanket", blanket.information(n).unwrap());
        }
        check(&entry, "chi2bar_blanket", blanket.mean_chi_squared());
        check(
            &entry,
            "blanket_mix_asym",
            blanket.coefficient() / (2 * n) as f64,
        );
        let bounds = privacy_bounds(epsilon, k as u64, n).unwrap();
        check(&entry, "unified_bound", bounds.input);
        check(
            &entry,
            "blanket_upper_coef_bound",
            blanket.mean_chi_squared() / (2 * n) as f64,
        );
    }
}

#[test]
fn randomized_response_with_any_inputs() {
    for entry in entries("krr_general") {
        let weight = entry["params"]["exp_eps"].as_f64().unwrap();
        let (p, q) = (
            numbers(&entry["params"]["P"]),
            numbers(&entry["params"]["Q_inputs"]),
        );
        let channel = krr(p.len(), weight);
        let (p, q) = (Prior::new(p).unwrap(), Prior::new(q).unwrap());
        let signal = Signal::among(&channel, &p, &q).unwrap();
        check(&entry, "I_X1_Z", signal.information(n_of(&entry)).unwrap());
        check(
            &entry,
            "asym",
            signal.coefficient() / (2 * n_of(&entry)) as f64,
        );
        check(&entry, "chi2bar", signal.mean_chi_squared());
    }
}

#[test]
fn the_paper_s_simulations_agree_with_exact_values() {
    for entry in entries("krr_mc") {
        let k = entry["params"]["k"].as_u64().unwrap() as usize;
        let channel = krr(k, entry["params"]["eps"].as_f64().unwrap().exp());
        let uniform = Prior::uniform(k);
        let exact = Signal::among(&channel, &uniform, &uniform)
            .unwrap()
            .information(n_of(&entry))
            .unwrap();
        check(&entry, "I_X1_Z", exact);
        let (mean, error) = (&entry["values"]["mc_estimate"], &entry["values"]["mc_se"]);
        assert!((mean.as_f64().unwrap() - exact).abs() < 5.0 * error.as_f64().unwrap());
    }
}

/// Own simulations at fixed seeds: within 4.5 standard errors, which each misses with probability 1e-5.
#[test]
fn simulations_agree_with_exact_values() {
    let rule = StoppingRule {
        max_samples: 20_000,
        standard_error: None,
    };
    for (seed, entry) in entries("mc").iter().enumerate() {
        let (p, q) = (
            numbers(&entry["params"]["P"]),
            numbers(&entry["params"]["Q"]),
        );
        let basic = Basic::new(&p, &q).unwrap();
        let [position, message] = basic.simulate(n_of(entry), rule, seed as u64).unwrap();
        for (estimate, what) in [(position, "I_K_Z"), (message, "I_Y1_Z")] {
            let off = estimate.mean - entry["values"][what].as_f64().unwrap();
            assert!(
                off.abs() <= 4.5 * estimate.standard_error + 1e-15,
                "{}: {off} {estimate:?}",
                entry["id"]
            );
            assert_eq!(estimate.samples, 20_000);
        }
    }
}

#[test]
fn the_position_given_all_inputs() {
    for entry in entries("thm11") {
        let k = entry["id"].as_str().unwrap().as_bytes()["thm11/k".len()] - b'0';
        let weight = entry["params"]["exp_eps"].as_f64().unwrap();
        let channel = krr(usize::from(k), weight);
        let inputs: Vec<usize> = numbers(&entry["params"]["x"])
            .iter()
            .map(|x| *x as usize)
            .collect();
        let others: Vec<(Vec<f64>, u64)> = inputs[1..]
            .iter()
            .map(|&x| (channel.row(x).to_vec(), 1))
            .collect();
        let users = Users::new(channel.row(inputs[0]), &others).unwrap();
        let told = users.position().unwrap();
        check(&entry, "I_K_Z_given_x", told);
        assert!(
            told <= users.position_bound() + 1e-15
                && users.position_bound() <= 2.0 * weight.ln() + 1e-12
        );
        // The sharper bound, for every n and for this one.
        let blanket = Blanket::of(&channel).position_bound(&channel);
        let n = inputs.len() as u64;
        let asked = Question {
            prior: &Prior::uniform(usize::from(k)),
            others: None,
            sizes: &[n],
            known: None,
        };
        let survey = survey_reports("k-RR", &Reports::Listed(channel.clone()), &asked).unwrap();
        let hidden = survey.rows[0].position_blanket.unwrap();
        assert!(told <= hidden && hidden <= blanket && blanket <= weight.ln() * (1.0 + 1e-12));
        check(
            &entry,
            "bound",
            privacy_bounds(weight.ln(), 2, 1).unwrap().position,
        );
    }
}

#[test]
fn blankets() {
    for entry in entries("blanket_dist") {
        let id = entry["id"].as_str().unwrap();
        if id.starts_with("blanket/") {
            let k = entry["params"]["k"].as_u64().unwrap() as usize;
            let weight = entry["params"]["exp_eps"].as_f64().unwrap();
            let channel = krr(k, weight);
            let blanket = Blanket::of(&channel);
            check(&entry, "gamma", blanket.gamma);
            for (own, golden) in blanket
                .generalized()
                .iter()
                .zip(numbers(&entry["values"]["Qbar"]))
            {
                assert!((own - golden).abs() < 1e-15);
            }
            let signal = Signal::blanket(&channel, &Prior::uniform(k)).unwrap();
            check(&entry, "chi2bar", signal.mean_chi_squared());
            check(&entry, "unified", weight - 1.0);
        } else {
            let of = |name: &str| (numbers(&entry["params"][name]), 1);
            if entry["values"]["Qbar"].is_null() {
                // Example III.3 itself: a fourth user who always sends the first message.
                let target = numbers(&entry["params"]["P1"]);
                let all = [of("P2"), of("P3"), of("P4")];
                let (with, without) = (Users::new(&target, &all), Users::new(&target, &all[..2]));
                let (with, without) = (with.unwrap(), without.unwrap());
                check(&entry, "I_with_user4", with.message().unwrap());
                check(&entry, "I_without_user4", without.message().unwrap());
                let bound = with.blanket_bound(true).unwrap();
                assert_eq!((bound.excluded, bound.messages), (vec![2], 3));
                check(&entry, "I_bound_Zr", bound.information);
                continue;
            }
            let users = Users::new(&[0.4, 0.6], &[of("P2"), of("P3")]).unwrap();
            let bound = users.blanket_bound(false).unwrap();
            for (own, golden) in bound.blanket.iter().zip(numbers(&entry["values"]["Qbar"])) {
                assert!((own - golden).abs() < 1e-15);
            }
            check(&entry, "I_X1_Zr", bound.information);
        }
    }
}

#[test]
fn best_decoys() {
    for entry in entries("optimal_Q") {
        let law = numbers(&entry["params"]["P"]);
        let best = optimal_decoys(&law).unwrap();
        check(&entry, "coef_opt", best.coefficient);
        check(&entry, "coef_Q_eq_P", best.coefficient_of_target);
        for (own, golden) in best.decoys.iter().zip(numbers(&entry["values"]["Q_opt"])) {
            assert!((own - golden).abs() < 1e-15);
        }
        let uniform = vec![1.0 / law.len() as f64; law.len()];
        check(
            &entry,
            "coef_uniform",
            message_coefficient(&law, &uniform).unwrap(),
        );
    }
}
