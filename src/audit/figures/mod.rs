//! What is reported of a log: one folder a figure, with its type, what is planned for it, how the certification rows
//! are judged, and what it comes to.
//!
//! To add a figure that nothing else reads: a folder or a file here with its type and a [`Figure`], its
//! `mod`, and a line in the list below; the audit then runs its stages, and the findings have a field of that name.

pub(crate) mod convergence;
pub(crate) mod differences;
pub(crate) mod distributions;
pub(crate) mod g_leakage;
pub(crate) mod information;
pub(crate) mod leakage_family;
pub(crate) mod likeness;
pub(crate) mod overall;
pub(crate) mod pairs;
pub(crate) mod privacy;
pub(crate) mod reconstruction;
mod stages;
pub(crate) mod trade_off;

use crate::audit::plan::Plan;
use crate::audit::prepare::Prepared;
use convergence::Convergence;
use convergence::figure::LearningCurve;
use g_leakage::{GLeakage, Payoffs};
use leakage_family::LeakageFamily;
use leakage_family::figure::Family;
use leakgauge_attack::tuning::Tuned;
use likeness::Likeness;
use reconstruction::Reconstruction;
use reconstruction::figure::Reconstructions;
use stages::Figure;
pub(crate) use stages::Settled;

/// Defines what is kept of every figure at every stage from one list: the field of the findings, what makes it, its
/// type.
macro_rules! figures {
    ($($(#[$doc:meta])* $name:ident: $figure:ty => $found:ty,)+) => {
        /// What is settled for every figure.
        #[derive(Debug)]
        pub(crate) struct FigurePlans {
            $($name: <$figure as Figure>::Plan,)+
        }

        /// What the rows that judge say for every figure.
        pub(crate) struct JudgedFigures {
            plans: FigurePlans,
            $(pub(crate) $name: <$figure as Figure>::Judged,)+
        }

        /// Figures of a log that nothing else in the findings rests on.
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub struct Figures {
            $($(#[$doc])* pub $name: $found,)+
        }

        impl FigurePlans {
            /// Settles all figures.
            pub fn new(prepared: &Prepared, tuned: &Tuned, plan: &mut Plan) -> Self {
                FigurePlans {
                    $($name: <$figure>::plan(prepared, tuned, plan),)+
                }
            }

            /// Looks at the rows that judge.
            pub fn judge(self, prepared: &Prepared, tuned: &Tuned) -> JudgedFigures {
                JudgedFigures {
                    $($name: <$figure>::judge(prepared, tuned, &self.$name),)+
                    plans: self,
                }
            }
        }

        impl JudgedFigures {
            /// What all figures come to.
            pub fn figures(&self, settled: &Settled) -> Figures {
                Figures {
                    $($name: <$figure>::figure(&self.plans.$name, &self.$name, settled),)+
                }
            }
        }
    };
}

figures! {
    /// The success of a reconstruction, where it was asked for.
    reconstruction: Reconstructions => Vec<Reconstruction>,
    /// The leakage family, where it was asked for.
    leakage_family: Family => Option<LeakageFamily>,
    /// The expected gain or loss by a function of the user's, where it was asked for.
    g_leakage: Payoffs => Option<GLeakage>,
    /// The numbers of the secrets in an order that puts those hard to tell apart side by side; `None`
    /// with more than 200.
    secrets_by_likeness: Likeness => Option<Vec<u32>>,
    /// Whether more rows would help; `None` where there are too few to tell.
    convergence: LearningCurve => Option<Convergence>,
}
