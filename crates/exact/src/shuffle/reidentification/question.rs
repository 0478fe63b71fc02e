//! What is asked about users who all apply one randomizer: which figures answer which options.

use leakgauge_base::error::{Error, Result};
use leakgauge_base::grammar::Call;
use leakgauge_base::naming::option;

use super::analysis::Reidentification;
use super::game::Game;
use super::law::RatioLaw;
use super::randomizer::{InputLaw, Randomizer};
use crate::channel::{Channel, Prior};
use crate::mechanism;

/// The largest number of inputs whose bounds are computed one by one.
const MAX_INPUTS: usize = 2_000;

/// A question about shuffled reports of a randomizer. Inputs are named by their labels.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The possible inputs; empty for the secrets of the mechanism.
    pub inputs: &'a [String],
    /// Those of the target for which figures are asked; empty for all.
    pub input: &'a [String],
    /// The input of all other users.
    pub against: Option<&'a str>,
    /// For each input, the number of other users known to have it.
    pub known: Option<&'a [u64]>,
    /// The law of the target's input, as [`Prior::parse`] reads it.
    pub input_law: Option<&'a str>,
    /// That of the other users' inputs.
    pub against_law: Option<&'a str>,
    /// Probabilities of success for which the smallest n is asked.
    pub success: &'a [f64],
    /// The numbers of guesses.
    pub guesses: &'a [u64],
    /// The games, unless `known` determines them.
    pub games: &'a [Game],
}

/// The randomizer of a [`Question`].
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether the name is that of a mechanism, and not of a matrix.
    pub is_mechanism: bool,
    /// Its channel.
    pub channel: &'a dyn Fn() -> Result<Channel>,
}

impl Asked<'_> {
    fn randomizer(&self, inputs: Option<&[String]>) -> Result<Randomizer> {
        if !self.is_mechanism {
            let problem = "is a matrix, but bounds need a mechanism";
            return Err(
                Error::setting("randomizer", self.name, problem).with_hint(format!(
                    "a matrix has exact figures with {}, or with {} and {}",
                    option("known"),
                    option("input_law"),
                    option("against_law")
                )),
            );
        }
        let declared = Randomizer::new(&*mechanism::parse(self.name)?, inputs);
        let (Err(_), Some(inputs)) = (&declared, inputs) else {
            return declared;
        };
        // Noise on numbers takes any number; only what it declares to be its secrets does not.
        let free = self.without_secrets(inputs);
        free.map_or(declared, Ok)
    }

    /// The randomizer over inputs beside the secrets that it declares, if it adds noise to numbers or points.
    fn without_secrets(&self, inputs: &[String]) -> Option<Randomizer> {
        let mut call = Call::parse(self.name).ok()?;
        call.arguments
            .retain(|argument| argument.name.as_deref() != Some("secrets"));
        let mechanism = mechanism::from_call(&call).ok()?;
        let bound = mechanism.bind(inputs).ok()?;
        let is_noise = bound.located().is_some() || bound.planar().is_some();
        is_noise.then(|| Randomizer::new(&*mechanism, Some(inputs)).ok())?
    }
}

impl Question<'_> {
    /// Exact figures where the messages of the other users have a known law, else bounds.
    ///
    /// # Errors
    /// Options contradict each other, or the randomizer has no such input, law or figures.
    pub fn answer(&self, asked: Asked<'_>) -> Result<Reidentification> {
        self.check()?;
        if let Some(known) = self.known {
            return self.among_known(asked, known);
        }
        match (self.input_law, self.against) {
            (Some(law), _) => self.random_input(asked, law),
            (None, Some(other)) => self.versus(asked, other),
            (None, None) => self.bounds(asked),
        }
    }

    /// Refuses what does not go together.
    fn check(&self) -> Result<()> {
        let given = [
            ("inputs", !self.inputs.is_empty()),
            ("input", !self.input.is_empty()),
            ("against", self.against.is_some()),
            ("known", self.known.is_some()),
            ("success", !self.success.is_empty()),
        ];
        let clash = |others: &[&'static str]| {
            given
                .iter()
                .find(|(name, is_given)| *is_given && others.contains(name))
                .map(|(name, _)| *name)
        };
        let refused = |name: &str, other: &str| {
            Err(Error::option(
                name,
                format!("does not go with {}", option(other)),
            ))
        };
        if self.input_law.is_some()
            && let Some(other) = clash(&["inputs", "input", "against", "known"])
        {
            return refused("input_law", other);
        }
        if self.known.is_some()
            && let Some(other) = clash(&["inputs", "against", "success"])
        {
            return refused("known", other);
        }
        if self.against_law.is_some() && self.input_law.is_none() {
            let problem = format!("needs {}", option("input_law"));
            return Err(Error::option("against_law", problem));
        }
        Ok(())
    }

    /// An adversary who knows the inputs of all users.
    fn among_known(&self, asked: Asked<'_>, known: &[u64]) -> Result<Reidentification> {
        let channel = (asked.channel)()?;
        let inputs: Vec<usize> = if self.input.is_empty() {
            (0..channel.secrets().len()).collect()
        } else {
            let number = |input: &String| channel.secret_number(input);
            self.input.iter().map(number).collect::<Result<_>>()?
        };
        Reidentification::given(asked.name, &channel, &inputs, known, self.guesses)
    }

    /// A random input: bounds, or exact figures among random inputs.
    fn random_input(&self, asked: Asked<'_>, law: &str) -> Result<Reidentification> {
        let channel = (asked.channel)()?;
        let prior = Prior::parse(law, &channel).map_err(|error| error.about("input_law"))?;
        let Some(others) = self.against_law else {
            self.refuse_success(&format!("add {}", option("against_law")))?;
            let randomizer = asked.randomizer(None)?;
            let law = randomizer.random_input(prior.weights())?;
            return Reidentification::randomizer(
                asked.name,
                randomizer.epsilon(),
                &[law],
                self.games,
            );
        };
        let sent = channel.push_forward(&prior)?;
        let others_prior = Prior::parse(others, &channel);
        let others_prior = others_prior.map_err(|error| error.about("against_law"))?;
        let decoys = channel.push_forward(&others_prior)?;
        let names = (
            &*format!("a random input of {}", asked.name),
            &*format!("messages of inputs with the law {others}"),
        );
        self.exact(names, &RatioLaw::from_weights(&sent, &decoys)?)
    }

    /// One input among messages of another: both distributions are known.
    fn versus(&self, asked: Asked<'_>, other: &str) -> Result<Reidentification> {
        let [input] = self.input else {
            let problem = format!("needs one {}", option("input"));
            return Err(Error::option("against", problem));
        };
        let mut inputs = self.all_inputs();
        if !inputs.is_empty() && !inputs.iter().any(|input| input == other) {
            inputs.push(other.to_owned());
        }
        let randomizer = asked.randomizer((!inputs.is_empty()).then_some(&inputs[..]))?;
        let law = randomizer.versus(randomizer.number(input)?, randomizer.number(other)?)?;
        let names = (
            &*format!("input {input} of {}", asked.name),
            &*format!("messages of input {other}"),
        );
        self.exact(names, &law)
    }

    /// The possible inputs with those of the target: for noise added to a number, inputs in between do not change the
    /// blanket.
    fn all_inputs(&self) -> Vec<String> {
        let mut inputs = self.inputs.to_vec();
        if !inputs.is_empty() {
            let more = self
                .input
                .iter()
                .filter(|input| !self.inputs.contains(input));
            inputs.extend(more.cloned());
        }
        inputs
    }

    /// Bounds for every input that is asked for.
    fn bounds(&self, asked: Asked<'_>) -> Result<Reidentification> {
        let hint = format!(
            "{} and {} determine both distributions",
            option("input"),
            option("against")
        );
        self.refuse_success(&hint)?;
        let inputs = self.all_inputs();
        let randomizer = asked.randomizer((!inputs.is_empty()).then_some(&inputs[..]))?;
        if !inputs.is_empty() && !randomizer.same_blanket(self.inputs)? {
            let problem = format!("is not one of {} or between them", option("inputs"));
            return Err(Error::setting("input", self.input.join(","), problem));
        }
        let numbers: Vec<usize> = if self.input.is_empty() {
            (0..randomizer.inputs().len()).collect()
        } else {
            let number = |input: &String| randomizer.number(input);
            self.input.iter().map(number).collect::<Result<_>>()?
        };
        if numbers.len() > MAX_INPUTS {
            let problem = format!(
                "has {} inputs, too many to compute bounds for each",
                numbers.len()
            );
            return Err(Error::setting("randomizer", asked.name, problem)
                .with_hint(format!("select some with {}", option("input"))));
        }
        let laws = numbers.into_iter().map(|number| randomizer.input(number));
        let laws: Vec<InputLaw> = laws.collect::<Result<_>>()?;
        Reidentification::randomizer(asked.name, randomizer.epsilon(), &laws, self.games)
    }

    fn refuse_success(&self, hint: &str) -> Result<()> {
        if self.success.is_empty() {
            return Ok(());
        }
        let problem = "needs known distributions, but here only bounds are computed";
        Err(Error::option("success", problem).with_hint(hint))
    }

    fn exact(&self, names: (&str, &str), law: &RatioLaw) -> Result<Reidentification> {
        Reidentification::exact(names, law, self.games, (self.success, self.guesses))
    }
}
