use super::*;
use crate::channel::SearchMethod;
use crate::mechanism::parse;

/// Fewer than usual, so that tests are short.
const CELLS: f64 = 600.0;

fn analysis(text: &str, options: &AnalysisOptions) -> Analysis {
    let found = Enclosed::with_cells(&*parse(text).unwrap(), CELLS)
        .unwrap()
        .expect(text);
    found.analyze(options).expect(text)
}

fn prior(weights: &[f64]) -> Option<Prior> {
    Some(Prior::new(weights.to_vec()).unwrap())
}

const THIRD: [f64; 3] = [1.0 / 3.0; 3];

/// A mechanism, the prior, and mutual information, vulnerability, expected guesses and Sibson's information of order 2, by
/// quadrature of the densities with 25 digits (mpmath 1.3).
const OF_DENSITIES: [(&str, &[f64], [f64; 4]); 6] = [
    (
        "laplace(scale=1, secrets=3)",
        &THIRD,
        [
            0.193_417_625_169_318,
            0.595_646_226_858_244,
            1.526_980_253_532_24,
            0.320_050_854_599_391,
        ],
    ),
    (
        "laplace(scale=1, secrets=3)",
        &[0.5, 0.3, 0.2],
        [
            0.178_339_186_591_823,
            0.616_522_622_631_916,
            1.499_811_071_213_25,
            0.302_210_259_621_441,
        ],
    ),
    (
        "laplace(scale=2.5, secrets=5)",
        &[0.2; 5],
        [
            0.109_483_755_031_405,
            0.345_015_397_537_615,
            2.366_567_077_344_82,
            0.197_962_141_654_172,
        ],
    ),
    (
        "gaussian(sigma=1, secrets=3)",
        &THIRD,
        [
            0.253_805_984_643_895,
            0.588_616_615_032_017,
            1.517_153_554_255_62,
            0.364_538_352_313_285,
        ],
    ),
    (
        "gaussian(sigma=1, secrets=3)",
        &[0.5, 0.3, 0.2],
        [
            0.235_318_946_499_074,
            0.623_428_129_216_981,
            1.471_563_855_669_44,
            0.347_317_349_939_418,
        ],
    ),
    (
        "gaussian(sigma=0.5, secrets=2)",
        &[0.9, 0.1],
        [
            0.142_020_406_366_56,
            0.929_939_314_141_461,
            1.070_060_685_858_54,
            0.256_172_879_063_58,
        ],
    ),
];

#[test]
fn figures_of_noise_enclose_those_of_its_densities() {
    for (text, weights, expected) in OF_DENSITIES {
        let options = AnalysisOptions {
            prior: prior(weights),
            orders: vec![2.0],
            ..AnalysisOptions::default()
        };
        let found = analysis(text, &options);
        let least = found.at_least.as_ref().unwrap();
        let of = |at: &crate::channel::PriorFigures, family: &crate::channel::LeakageFamily| {
            let sibson = family.orders[0].sibson_information;
            [
                at.mutual_information,
                at.vulnerability,
                -family.guesswork,
                sibson,
            ]
        };
        let most = of(&found.at_prior, &found.leakage_family);
        let least = of(&least.at_prior, &least.leakage_family);
        for (at, expected) in expected.iter().copied().enumerate() {
            let expected = if at == 2 { -expected } else { expected };
            let hair = 1e-13 * f64::abs(expected);
            assert!(
                least[at] <= expected + hair && expected <= most[at] + hair,
                "{text}, {at}: {} {expected} {}",
                least[at],
                most[at]
            );
            assert!(
                most[at] - least[at] < 1e-3,
                "{text}, {at}: {} {}",
                least[at],
                most[at]
            );
        }
    }
}

/// A cell is a function of an observation that can be drawn from the other matrix: few cells, so that a linear program finds
/// how. The longer the cells, the more both differ.
#[test]
fn each_side_refines_the_other() {
    let labels = ["a", "b", "c"].map(str::to_owned);
    for centers in [[0.0, 1.0, 2.0], [0.0, 0.1, 3.0], [2.0, -1.0, 0.5]] {
        for cells in [2.0, 5.0, 9.0] {
            for sides in [
                cells::laplace(1.5, &centers, &labels, cells).unwrap(),
                cells::gaussian(1.5, &centers, &labels, 2.0 * cells).unwrap(),
            ] {
                let found = sides.below.refinement(&sides.above, "above").unwrap();
                assert!(found.refines, "{centers:?} {cells}: {}", found.deficiency);
                assert!(!found.refined_by, "{centers:?} {cells}");
            }
        }
    }
}

/// Wherever an observation falls, the vector of its densities is a sum of the columns of its cell: without that the upper
/// side would be none. Gaussian noise, from the densities.
#[test]
fn no_secret_is_told_with_a_negative_weight() {
    let sigma = 1.0;
    let centers = [-1.0, 0.0, 2.5];
    let density = |x: f64| (-0.5 * x * x).exp();
    for step in [0.05, 0.5, 1.9] {
        for cell in -80..80 {
            let (from, to) = (step * f64::from(cell), step * f64::from(cell + 1));
            let middle = 0.5 * (from + to);
            for s in centers.map(|s| s / sigma) {
                for place in 0..=20 {
                    let share = f64::from(place) / 20.0;
                    let x = from + share * (to - from);
                    let ratio = |x: f64| density(x - s) / density(x - middle);
                    let chord = (1.0 - share) * ratio(from) + share * ratio(to);
                    let kept = (-0.125 * (s - middle) * (s - middle) * step * step).exp();
                    assert!(
                        kept * chord <= ratio(x) * (1.0 + 1e-12),
                        "{step} {cell} {s}"
                    );
                }
            }
        }
    }
}

#[test]
fn figures_of_pairs_are_those_of_the_mechanism() {
    for text in [
        "laplace(scale=0.7, secrets=-1..2)",
        "gaussian(sigma=2, secrets=4)",
        "rappor(epsilon=1, secrets=24)",
    ] {
        let options = AnalysisOptions {
            epsilons: vec![0.0, 0.3],
            reconstruction: vec![0.1],
            orders: vec![2.0],
            profile: true,
            ..AnalysisOptions::default()
        };
        let found = analysis(text, &options);
        let bound = parse(text).unwrap().bind_declared().unwrap();
        let (a, b) = bound.worst_pair().unwrap();
        let pair = bound.pair(a, b).unwrap();
        assert_eq!(found.total_variation, bound.total_variation(a, b), "{text}");
        assert_eq!(found.capacity, bound.capacity().unwrap(), "{text}");
        assert_eq!(found.deltas[1].delta, bound.delta(0.3).unwrap(), "{text}");
        assert_eq!(
            found.reconstruction[0].success,
            pair.reconstruction(0.1).unwrap(),
            "{text}"
        );
        assert_eq!(found.profile.unwrap().gdp_mu, pair.gaussian_mu(), "{text}");
        assert_eq!(
            found.leakage_family.orders[0].renyi_divergence,
            pair.renyi_divergence(2.0),
            "{text}"
        );
        let bounds = found.bayes_security_bounds;
        for bound in [bounds.mean_row, bounds.first_row, bounds.prior_row] {
            let sides = bound.lower..=bound.upper.unwrap();
            let security = found.bayes_security;
            assert!(sides.contains(&security), "{text}: {bound:?} {security}");
        }
    }
}

/// Few secrets, whose sets of labels can be listed: the stretches of a circle have the same figures under the uniform prior.
#[test]
fn counted_observations_have_the_figures_of_all() {
    for text in [
        "rappor(epsilon=1, secrets=7)",
        "oue(epsilon=2.5, secrets=6)",
        "subset-selection(epsilon=1, secrets=7, size=3)",
        "randomized-response(epsilon=1.5, secrets=5)",
    ] {
        let mechanism = parse(text).unwrap();
        let bound = mechanism.bind_declared().unwrap();
        let classes = bound.likelihood_classes().unwrap();
        let sets = counted(&classes, bound.secret_count(), bound.epsilon()).expect(text);
        let options = AnalysisOptions {
            orders: vec![0.5, 2.0],
            tries: vec![2, 3],
            method: SearchMethod::Direct,
            ..AnalysisOptions::default()
        };
        let circle = cyclic(&sets, listed_secrets(&*mechanism).unwrap()).unwrap();
        let found = analyze(&circle, &options).unwrap();
        let whole = analyze(&Channel::of_mechanism(&*mechanism).unwrap(), &options).unwrap();
        let figures = |analysis: &Analysis| {
            let (at, family) = (&analysis.at_prior, &analysis.leakage_family);
            vec![
                at.mutual_information,
                at.bayes_risk,
                at.min_entropy_leakage,
                analysis.capacity,
                analysis.shannon_capacity.lower,
                analysis.shannon_capacity.upper,
                family.guesswork,
                family.maximal_leakage,
                family.tries[0].vulnerability,
                family.tries[1].vulnerability,
                family.orders[0].sibson_information,
                family.orders[1].sibson_information,
                family.orders[1].maximal_alpha_leakage.unwrap().upper,
                family.largest_pointwise_leakage,
                analysis.bayes_security_bounds.mean_row.distance,
            ]
        };
        for (at, (one, other)) in figures(&found).iter().zip(figures(&whole)).enumerate() {
            let error = (one - other).abs();
            assert!(
                error < 1e-9 * other.abs() + 1e-13,
                "{text}, {at}: {one} {other}"
            );
        }
    }
}

#[test]
fn what_does_not_treat_secrets_alike_is_refused() {
    let found = Enclosed::of(&*parse("rappor(epsilon=1, secrets=24)").unwrap())
        .unwrap()
        .unwrap();
    let mut weights = vec![1.0 / 24.0; 24];
    (weights[0], weights[1]) = (1.5 / 24.0, 0.5 / 24.0);
    for options in [
        AnalysisOptions {
            prior: prior(&weights),
            ..AnalysisOptions::default()
        },
        AnalysisOptions {
            pair: Some((0, 1)),
            ..AnalysisOptions::default()
        },
    ] {
        let error = found.analyze(&options).unwrap_err().to_string();
        assert!(error.contains("all alike"), "{error}");
    }
    for text in [
        "rappor(epsilon=1, secrets=5)",
        "planar-laplace(scale=1, secrets=2)",
        "geometric(nu=1, secrets=3)",
    ] {
        assert!(
            Enclosed::of(&*parse(text).unwrap()).unwrap().is_none(),
            "{text}"
        );
    }
    for text in [
        "rappor(epsilon=1, secrets=5000)",
        "laplace(scale=1, secrets=100000)",
    ] {
        assert!(Enclosed::of(&*parse(text).unwrap()).is_err(), "{text}");
    }
}

/// Secrets that are far apart, near together, or many, and noise beside which cells are long: sides stay sides.
#[test]
fn hostile_parameters_have_two_sides() {
    for text in [
        "laplace(scale=1e-3, secrets=0..1)",
        "laplace(scale=1e3, secrets=0..1)",
        "laplace(scale=1e-300, secrets=0..1)",
        "laplace(scale=0.01, secrets=0..6)",
        "gaussian(sigma=1e-5, secrets=0..1)",
        "gaussian(sigma=1e6, secrets=0..1)",
        "gaussian(sigma=0.05, secrets=0..6)",
        "gaussian(sigma=3, secrets=0..9)",
    ] {
        let found = analysis(text, &AnalysisOptions::default());
        let least = found.at_least.unwrap();
        let (low, high) = (
            least.at_prior.mutual_information,
            found.at_prior.mutual_information,
        );
        let entropy = (found.secrets.len() as f64).ln();
        assert!(
            low >= -1e-15 && low <= high + 1e-13 && high <= entropy + 1e-12,
            "{text}: {low:e} {high:e} {entropy}"
        );
        assert!(
            least.shannon_capacity.lower <= found.shannon_capacity.upper,
            "{text}"
        );
    }
}

/// Mutual information and vulnerability of a record that is used with a probability, by quadrature of the densities with 25
/// digits (mpmath 1.3); of whole numbers by their sum.
#[test]
fn records_that_are_used_with_a_probability_have_two_sides() {
    for (text, weights, expected) in [
        (
            "subsampled(gaussian(sigma=1), rate=0.1)",
            [0.5, 0.5],
            [0.001_685_454_626_123_2, 0.519_146_246_127_401],
        ),
        (
            "subsampled(laplace(scale=1), rate=0.3, relation=replace)",
            [0.4, 0.6],
            [0.024_254_159_522_805_2, 0.624_587_124_927_549],
        ),
        (
            "subsampled(geometric(nu=1), rate=0.2)",
            [0.5, 0.5],
            [0.004_960_627_826_219_11, 0.546_211_715_726_001],
        ),
    ] {
        let options = AnalysisOptions {
            prior: prior(&weights),
            ..AnalysisOptions::default()
        };
        let found = analysis(text, &options);
        let least = found.at_least.as_ref().unwrap();
        let of = |at: &crate::channel::PriorFigures| [at.mutual_information, at.vulnerability];
        let (least, most) = (of(&least.at_prior), of(&found.at_prior));
        for (at, expected) in expected.into_iter().enumerate() {
            let hair = 1e-11 * expected;
            assert!(
                least[at] <= expected + hair && expected <= most[at] + hair,
                "{text}, {at}: {} {expected} {}",
                least[at],
                most[at]
            );
            assert!(
                most[at] / least[at] < 1.001,
                "{text}, {at}: {} {}",
                least[at],
                most[at]
            );
        }
    }
}

/// With few cells a linear program finds how the one is drawn from the other.
#[test]
fn cells_of_the_privacy_loss_refine_each_other() {
    for text in [
        "subsampled(gaussian(sigma=1), rate=0.3)",
        "subsampled(laplace(scale=1), rate=0.3, relation=replace)",
        "subsampled(planar-laplace(scale=1), rate=0.6)",
    ] {
        for cells in [4.0, 7.0] {
            let found = Enclosed::with_cells(&*parse(text).unwrap(), cells)
                .unwrap()
                .unwrap();
            let below = found.below.as_ref().unwrap();
            let found = below.refinement(&found.above, "above").unwrap();
            assert!(
                found.refines && !found.refined_by,
                "{text}, {cells}: {}",
                found.deficiency
            );
        }
    }
}

/// Limits of a capacity are of the mechanism, not of the matrix that leaks more: with few cells the latter alone is too large.
/// The capacity of two secrets with symmetric noise is the mutual information at the uniform prior, by quadrature with 25
/// digits (mpmath 1.3).
#[test]
fn limits_of_capacities_enclose_that_of_the_mechanism() {
    const CAPACITY: f64 = 0.0885196402012748;
    const ALPHA: f64 = 0.156627799153501;
    let options = AnalysisOptions {
        orders: vec![2.0],
        ..AnalysisOptions::default()
    };
    for cells in [6.0, 40.0, 600.0] {
        let mechanism = parse("laplace(scale=1, secrets=2)").unwrap();
        let found = Enclosed::with_cells(&*mechanism, cells).unwrap().unwrap();
        let found = found.analyze(&options).unwrap();
        let limits = &found.shannon_capacity;
        assert!(
            limits.lower < CAPACITY && CAPACITY < limits.upper,
            "{cells}: {limits:?}"
        );
        assert_eq!(
            found.at_least.as_ref().unwrap().shannon_capacity.lower,
            limits.lower
        );
        // Of order 2, that at the uniform prior, which is the best of two alike secrets.
        let limits = found.leakage_family.orders[0]
            .maximal_alpha_leakage
            .unwrap();
        assert!(
            limits.lower < ALPHA && ALPHA < limits.upper,
            "{cells}: {limits:?}"
        );
    }
}

/// A record that is told for certain where it is used: losses whose exponentials are no numbers keep their masses.
#[test]
fn records_that_are_told_for_certain_keep_their_masses() {
    // Two columns: ½ and 1, and ½ and 0.
    let expected = 0.5 * (4.0f64 / 3.0).ln() + 0.25 * (2.0f64 / 3.0).ln() + 0.25 * 2.0f64.ln();
    for text in [
        "subsampled(gaussian(sigma=0.003), rate=0.5)",
        "subsampled(gaussian(sigma=0.02), rate=0.5)",
        "subsampled(laplace(scale=0.0005), rate=0.5)",
    ] {
        let found = analysis(text, &AnalysisOptions::default());
        let most = found.at_prior.mutual_information;
        let least = found.at_least.unwrap().at_prior.mutual_information;
        assert!(
            least <= expected + 1e-12 && expected <= most + 1e-12,
            "{text}: {least} {most}"
        );
        assert!(most - least < 1e-6, "{text}: {least} {most}");
        assert!(most <= found.shannon_capacity.upper, "{text}");
    }
}

/// One figure under two names, and no figure beyond what the prior and the capacity leave.
#[test]
fn figures_of_many_secrets_agree() {
    for text in [
        "laplace(scale=1, secrets=40)",
        "gaussian(sigma=0.01, secrets=5)",
    ] {
        let found = analysis(text, &AnalysisOptions::default());
        let least = found.at_least.expect("the other side");
        for maximal in [
            found.leakage_family.maximal_leakage,
            least.leakage_family.maximal_leakage,
        ] {
            assert!(
                (maximal - found.min_entropy_capacity).abs() < 1e-12,
                "{text}: {maximal}"
            );
        }
        let farthest = (found.prior.len() as f64).ln();
        assert!(
            found.leakage_family.largest_pointwise_leakage <= farthest,
            "{text}"
        );
        assert!(
            least.at_prior.vulnerability <= 1.0 && found.at_prior.vulnerability <= 1.0,
            "{text}"
        );
    }
}
