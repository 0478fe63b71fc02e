//! Profiles of the command line of AWS: what the environment does not say of keys, region and endpoint.

use leakgauge_base::error::{Error, Result};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};

/// What a profile can say that only other programs can turn into keys.
const ELSEWHERE: [&str; 6] = [
    "role_arn",
    "sso_session",
    "sso_start_url",
    "credential_process",
    "web_identity_token_file",
    "login_session",
];
/// Variables that give credentials, before which no profile is asked for keys.
const GIVEN: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SKIP_SIGNATURE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];
const REGION: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];
const ENDPOINT: [&str; 3] = ["AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"];

/// Where variables and files come from.
struct Sources<'s> {
    variable: &'s dyn Fn(&str) -> Option<String>,
    /// The text of a file; `None` if there is none.
    file: &'s dyn Fn(&str) -> std::io::Result<Option<String>>,
}

/// A builder with what the profile adds to the environment.
///
/// # Errors
/// A profile that is named and not there, or whose keys another program has to fetch.
pub(crate) fn fill(url: &str, builder: AmazonS3Builder) -> Result<AmazonS3Builder> {
    let settings = settings(url, &surroundings())?;
    let fill = |builder: AmazonS3Builder, (key, value)| builder.with_config(key, value);
    Ok(settings.into_iter().fold(builder, fill))
}

/// Whether the profile has keys.
pub(crate) fn has_keys() -> bool {
    let has = |settings: Vec<(AmazonS3ConfigKey, String)>| {
        let mut keys = settings.iter().map(|(key, _)| key);
        keys.any(|key| *key == AmazonS3ConfigKey::AccessKeyId)
    };
    settings("", &surroundings()).is_ok_and(has)
}

fn surroundings() -> Sources<'static> {
    Sources {
        variable: &|name| std::env::var(name).ok().filter(|value| !value.is_empty()),
        file: &|path| match std::fs::read_to_string(path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        },
    }
}

/// What the profile says that the environment does not.
fn settings(url: &str, sources: &Sources<'_>) -> Result<Vec<(AmazonS3ConfigKey, String)>> {
    let variable = sources.variable;
    let is_set = |names: &[&str]| names.iter().any(|name| variable(name).is_some());
    let is_asked = variable("AWS_PROFILE");
    let name = is_asked.clone().unwrap_or_else(|| "default".to_owned());
    let file = |named: &str, usual: &str| {
        let home = variable("HOME").or_else(|| variable("USERPROFILE"));
        let path = variable(named).or_else(|| Some(format!("{}/.aws/{usual}", home?)));
        let text = path.map_or(Ok(None), |path| {
            (sources.file)(&path).map_err(|error| Error::file(path, error.to_string()))
        });
        text.map(|text| text.unwrap_or_default())
    };
    let keys = section(
        &file("AWS_SHARED_CREDENTIALS_FILE", "credentials")?,
        &name,
        false,
    );
    let config = section(&file("AWS_CONFIG_FILE", "config")?, &name, true);
    if keys.is_none() && config.is_none() && is_asked.is_some() {
        return Err(Error::file(url, format!("there is no profile {name}"))
            .with_hint("AWS_PROFILE names a profile in ~/.aws/credentials or ~/.aws/config"));
    }
    let said: Vec<(String, String)> = keys.into_iter().chain(config).flatten().collect();
    let value = |name: &str| {
        let mut values = said
            .iter()
            .filter(|(key, value)| key == name && !value.is_empty());
        values.next().map(|(_, value)| value.clone())
    };
    let mut found = Vec::new();
    if !is_set(&GIVEN) {
        found.extend(credentials(url, &name, &value)?);
    }
    let is_ignored = variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")
        .is_some_and(|value| value.eq_ignore_ascii_case("true"));
    for (setting, key, is_given) in [
        ("region", AmazonS3ConfigKey::Region, is_set(&REGION)),
        (
            "endpoint_url",
            AmazonS3ConfigKey::Endpoint,
            is_set(&ENDPOINT) || is_ignored,
        ),
    ] {
        found.extend(
            value(setting)
                .filter(|_| !is_given)
                .map(|value| (key, value)),
        );
    }
    Ok(found)
}

/// The keys of a profile, if it has any.
fn credentials(
    url: &str,
    name: &str,
    value: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<(AmazonS3ConfigKey, String)>> {
    let pair = [value("aws_access_key_id"), value("aws_secret_access_key")];
    let elsewhere = ELSEWHERE.into_iter().find(|name| value(name).is_some());
    match (pair, elsewhere) {
        // Keys beside a role are those that may assume it, not its own.
        ([Some(id), Some(secret)], _) if value("role_arn").is_none() => {
            let keys = [
                Some((AmazonS3ConfigKey::AccessKeyId, id)),
                Some((AmazonS3ConfigKey::SecretAccessKey, secret)),
                value("aws_session_token").map(|token| (AmazonS3ConfigKey::Token, token)),
            ];
            Ok(keys.into_iter().flatten().collect())
        }
        (_, Some(setting)) => Err(fetched_elsewhere(url, name, setting)),
        ([None, None], None) => Ok(Vec::new()),
        ([id, _], None) => {
            let missing = match id {
                None => "aws_access_key_id",
                Some(_) => "aws_secret_access_key",
            };
            let problem = format!("the profile {name} has no {missing}");
            Err(Error::file(url, problem).with_hint("write both keys into ~/.aws/credentials"))
        }
    }
}

fn fetched_elsewhere(url: &str, name: &str, setting: &str) -> Error {
    let problem = format!("the keys of the profile {name} are not in a file ({setting})");
    Error::file(url, problem).with_hint(format!(
        "fetch them into the environment: eval \"$(aws configure export-credentials --profile {name} --format env)\""
    ))
}

/// The settings of a profile; `None` where it is not in the file. Settings below others, which stand further right, are
/// left out.
fn section(text: &str, name: &str, is_config: bool) -> Option<Vec<(String, String)>> {
    let mut found: Option<Vec<(String, String)>> = None;
    let mut is_inside = false;
    for line in text.lines() {
        let is_comment = line.trim_start().starts_with(['#', ';']);
        if line.starts_with([' ', '\t']) || is_comment {
            continue;
        }
        if let Some(head) = line
            .strip_prefix('[')
            .and_then(|line| line.split(']').next())
        {
            let head = head.trim();
            let profile = head.strip_prefix("profile ").map(str::trim);
            is_inside = match is_config && name != "default" {
                true => profile == Some(name),
                false => head == name || (is_config && profile == Some(name)),
            };
            if is_inside {
                found.get_or_insert_default();
            }
        } else if let (true, Some((key, value))) = (is_inside, line.split_once('=')) {
            let end = [" #", " ;", "\t#", "\t;"].into_iter();
            let end = end.filter_map(|mark| value.find(mark)).min();
            let value = value[..end.unwrap_or(value.len())].trim();
            let setting = (key.trim().to_ascii_lowercase(), value.to_owned());
            found.get_or_insert_default().push(setting);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: &str = "[default]\naws_access_key_id = d-id\naws_secret_access_key = d-secret # mine\n\n\
                        [work]\naws_access_key_id=w-id\naws_secret_access_key=w=secret\naws_session_token=w-token\n\
                        [half]\naws_access_key_id=h-id\n";
    const CONFIG: &str = "# all\n[default]\nregion = eu-west-1\ns3 =\n  region = none\n\
                          [profile work]\nregion=us-east-2\nendpoint_url = https://store:9000\n[work]\nregion=none\n\
                          [profile login]\nsso_session = it\n\
                          [profile role]\nrole_arn = arn:x\nsource_profile = work\n";

    fn found(variables: &[(&str, &str)]) -> std::result::Result<Vec<String>, String> {
        let variable = |name: &str| {
            let known = variables.iter().find(|(known, _)| *known == name);
            known.map(|(_, value)| (*value).to_owned())
        };
        let file = |path: &str| {
            Ok(match path {
                "/home/me/.aws/credentials" => Some(KEYS.to_owned()),
                "/home/me/.aws/config" => Some(CONFIG.to_owned()),
                "/other" => {
                    Some("[default]\naws_access_key_id=o\naws_secret_access_key=p\n".into())
                }
                _ => None,
            })
        };
        let sources = Sources {
            variable: &variable,
            file: &file,
        };
        match settings("s3://bucket/log.csv", &sources) {
            Ok(found) => Ok(found
                .iter()
                .map(|(key, value)| format!("{}={value}", key.as_ref()))
                .collect()),
            Err(error) => Err(format!("{error} {}", error.hint().unwrap_or_default())),
        }
    }

    const HOME: (&str, &str) = ("HOME", "/home/me");

    #[test]
    fn a_profile_gives_what_the_environment_does_not() {
        let work = ("AWS_PROFILE", "work");
        for (variables, expected) in [
            (
                &[HOME][..],
                &[
                    "aws_access_key_id=d-id",
                    "aws_secret_access_key=d-secret",
                    "aws_region=eu-west-1",
                ][..],
            ),
            (
                &[HOME, work],
                &[
                    "aws_access_key_id=w-id",
                    "aws_secret_access_key=w=secret",
                    "aws_session_token=w-token",
                    "aws_region=us-east-2",
                    "aws_endpoint=https://store:9000",
                ],
            ),
            (
                &[
                    HOME,
                    work,
                    ("AWS_ACCESS_KEY_ID", "mine"),
                    ("AWS_REGION", "here"),
                    ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"),
                ],
                &[],
            ),
            (
                &[
                    HOME,
                    ("AWS_SHARED_CREDENTIALS_FILE", "/other"),
                    ("AWS_CONFIG_FILE", "/none"),
                ],
                &["aws_access_key_id=o", "aws_secret_access_key=p"],
            ),
            (&[], &[]),
        ] {
            assert_eq!(found(variables).unwrap(), expected, "{variables:?}");
        }
    }

    #[test]
    fn a_profile_without_usable_keys_is_refused_with_a_way_out() {
        for (name, words) in [
            (
                "login",
                ["(sso_session)", "export-credentials --profile login"],
            ),
            ("role", ["(role_arn)", "export-credentials --profile role"]),
            ("half", ["has no aws_secret_access_key", "both keys"]),
            ("nobody", ["no profile nobody", "AWS_PROFILE"]),
        ] {
            let said = found(&[HOME, ("AWS_PROFILE", name)]).unwrap_err();
            assert!(words.iter().all(|word| said.contains(word)), "{said}");
        }
        // Keys of the environment need no profile of which keys could come.
        let own = ("AWS_ACCESS_KEY_ID", "mine");
        assert!(found(&[HOME, ("AWS_PROFILE", "role"), own]).is_ok());
    }
}
