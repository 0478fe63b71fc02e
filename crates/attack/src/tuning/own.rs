//! Attacks from outside, in competition like any other.

use std::sync::Arc;

use crate::attack::{Attack, Fitted};
use crate::scorer::Kind;
use crate::tuning::attacks::Attacks;
use crate::tuning::family::Family;
use crate::tuning::model_selection::ModelSelection;
use crate::tuning::scorer_choice::ScorerChoice;
use crate::tuning::task::Task;
use leakgauge_log::observations::Counts;

/// One of the caller's own attacks.
pub(super) struct OwnFamily {
    attack: Arc<dyn Attack>,
}

impl OwnFamily {
    pub fn new(attack: Arc<dyn Attack>) -> Self {
        OwnFamily { attack }
    }
}

impl Family for OwnFamily {
    fn kind(&self) -> Kind {
        Kind::named(self.attack.name().to_owned())
    }

    fn names(&self) -> &'static [ScorerChoice] {
        &[]
    }

    fn is_asked(&self, _: &Attacks) -> bool {
        true
    }

    /// The attack says so itself when it is fitted.
    fn applies(&self, _: &Task) -> bool {
        true
    }

    fn most_rows(&self, _: &Task) -> u64 {
        self.attack.max_rows()
    }

    fn cost(&self, task: &Task, fit_rows: u64) -> f64 {
        self.attack.nominal_seconds(fit_rows, task.scored() as u64) + task.comparing()
    }

    fn enter(&self, selection: &mut ModelSelection, fit: &Counts) -> Result<(), String> {
        let fitted = Fitted::fit(&self.attack, selection.task().observations, fit)?;
        selection.enter(Arc::new(fitted));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::{AttackError, FittedAttack};
    use crate::scorer::Parameter;
    use crate::split::Split;
    use crate::tuning::families::all;
    use crate::tuning::{Budget, Failure, Goals, Tuned, tune};
    use leakgauge_base::error::Result;
    use leakgauge_log::observations::{Cell, Observations};

    /// Says the numbers of the observation, times a factor; refuses rows if told to.
    struct Numbers {
        name: &'static str,
        factor: f64,
        refuses: bool,
    }

    impl Attack for Numbers {
        fn name(&self) -> &str {
            self.name
        }

        fn parameters(&self) -> crate::scorer::Parameters {
            crate::scorer::parameters([("factor", Parameter::Real(self.factor))])
        }

        fn max_rows(&self) -> u64 {
            50
        }

        fn fit(
            &self,
            _: &Observations,
            fit: &Counts,
        ) -> std::result::Result<Box<dyn FittedAttack>, AttackError> {
            if self.refuses {
                return Err("these rows are not for me".into());
            }
            assert!(fit.total() <= 50, "thinned");
            let factor = self.factor;
            Ok(Box::new(
                move |observations: &Observations, ids: &[u32], scores: &mut [f64]| {
                    for (&id, row) in ids.iter().zip(scores.chunks_mut(2)) {
                        row[0] = 0.0;
                        row[1] = factor * observations.numbers(id)[0];
                    }
                },
            ))
        }
    }

    fn numbers(name: &'static str, factor: f64) -> Arc<dyn Attack> {
        Arc::new(Numbers {
            name,
            factor,
            refuses: false,
        })
    }

    /// Two secrets, one of negative and one of positive numbers.
    fn tuned(attacks: &Attacks) -> Result<Tuned> {
        let numbers = (0..400).map(|row| {
            if row % 2 == 0 {
                -1.0 - f64::from(row)
            } else {
                f64::from(row)
            }
        });
        let observations = Observations::of_numbers(1, numbers.collect());
        let cells = (0..400).map(|symbol| Cell {
            secret: symbol % 2,
            symbol,
            count: 1,
        });
        let split = Split::across(
            &Counts::new(2, cells.clone().collect()),
            Counts::new(2, cells.collect()),
            &mut rand::SeedableRng::seed_from_u64(1),
        );
        let goals = Goals::advantage(0.05);
        tune(&observations, &split, attacks, Budget::default(), goals)
    }

    #[test]
    fn attacks_from_outside_are_tried_alone_and_the_better_one_is_kept() {
        let attacks = Attacks::only(numbers("backwards", -1.0)).and(numbers("forwards", 1.0));
        let tuned = tuned(&attacks).unwrap();
        let tried: Vec<&str> = tuned.tried.iter().map(|tried| &*tried.scorer).collect();
        assert_eq!(tried, ["backwards", "forwards"]);
        assert_eq!(tuned.scorer.name(), "forwards");
        assert_eq!(tuned.scorer.description(), "factor 1.000");
        assert_eq!(tuned.scorer.kinds(), [Kind::named("forwards")]);
    }

    #[test]
    fn scores_that_are_not_finite_do_no_harm() {
        let tuned = tuned(&Attacks::only(numbers("infinite", f64::INFINITY))).unwrap();
        let finite = |score: &f64| score.is_finite() && (2.0 * score).is_finite();
        assert!(tuned.scores.values().iter().all(finite));
        assert!(tuned.tried[0].quality.as_ref().unwrap().largest > 0.8);
    }

    #[test]
    fn an_attack_that_cannot_learn_says_why_and_others_compete_without_it() {
        let refusing: Arc<dyn Attack> = Arc::new(Numbers {
            name: "refusing",
            factor: 1.0,
            refuses: true,
        });
        let error = tuned(&Attacks::only(refusing.clone())).err().unwrap();
        assert!(error.to_string().contains("not for me"), "{error}");
        let tuned = tuned(&Attacks::default().and(refusing)).unwrap();
        let reason = tuned.tried.iter().find(|tried| tried.scorer == "refusing");
        let expected = Failure::Unfit("these rows are not for me".to_owned());
        assert_eq!(reason.unwrap().quality, Err(expected));
    }

    #[test]
    fn attacks_that_a_report_could_not_tell_apart_are_refused() {
        for attacks in [
            Attacks::only(numbers("same", 1.0)).and(numbers("same", 2.0)),
            Attacks::default().and(numbers("forest", 1.0)),
            Attacks::only(numbers("combination", 1.0)),
            Attacks::from(ScorerChoice::Given).and(numbers("mine", 1.0)),
        ] {
            assert!(attacks.check().is_err(), "{attacks:?}");
        }
    }

    /// Every name on the command line reaches a family, and no family is called otherwise.
    #[test]
    fn names_and_families_agree() {
        let families = all(&[]);
        for &choice in ScorerChoice::ALL {
            let learned = !matches!(choice, ScorerChoice::Auto | ScorerChoice::Given);
            let reached = families
                .iter()
                .any(|family| family.names().contains(&choice));
            assert_eq!(learned, reached, "{choice}");
        }
        for family in &families {
            let name = family.kind().name;
            let known = family.names().iter().any(|choice| choice.name() == name);
            assert!(known || name == "combination", "{name}");
        }
    }
}
