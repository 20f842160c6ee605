//! A client of the schema registry.

use std::time::Duration;

use flott_catalog::connector::ConnectorError;
use serde_json::Value;
use ureq::Agent;

use super::tls;
use crate::text::write_base64;

/// How long a question may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How often a question is asked before the registry counts as down, and how long to wait in between.
const ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(250);
/// How deep schemas may refer to others.
const MAX_REFERENCES: usize = 50;

/// How to log in.
#[derive(Debug, Clone)]
pub(super) enum Login {
    /// By what the address holds, if it holds a login.
    InUrl,
    /// As `name:password`.
    User(String),
    Token(String),
}

/// A client.
pub(super) struct Client {
    agent: Agent,
    servers: Vec<Server>,
}

struct Server {
    /// Without a slash at the end.
    url: String,
    authorization: Option<String>,
}

/// The registry's answer that is an error of the question.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) message: String,
}

/// A schema with those that it refers to, the latter first.
pub(super) struct RegisteredSchema {
    pub(super) references: Vec<String>,
    pub(super) text: String,
}

impl Client {
    pub(super) fn new(
        urls: &str,
        login: Login,
        trusted: Option<&str>,
        identity: Option<&str>,
    ) -> Result<Self, ConnectorError> {
        let servers = urls
            .split(',')
            .map(|url| Server::new(url.trim(), &login))
            .collect::<Result<Vec<_>, _>>()?;
        let secure = servers.iter().any(|server| server.url.starts_with("https:"));
        let config = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .user_agent("flott");
        let config = tls::configure(config, secure, trusted, identity)?;
        Ok(Self { agent: config.build().new_agent(), servers })
    }

    /// The schema of this number.
    pub(super) fn schema(
        &self,
        id: u32,
    ) -> Result<Result<RegisteredSchema, Refusal>, ConnectorError> {
        let answer = match self.ask(&format!("/schemas/ids/{id}"), None)? {
            Ok(answer) => answer,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut schema = RegisteredSchema { references: Vec::new(), text: String::new() };
        Ok(match self.collect(&answer, &mut schema)? {
            Ok(text) => {
                schema.text = text;
                Ok(schema)
            }
            Err(refusal) => Err(refusal),
        })
    }

    /// The text of an answer's schema; those that it refers to go before it.
    fn collect(
        &self,
        answer: &Value,
        schema: &mut RegisteredSchema,
    ) -> Result<Result<String, Refusal>, ConnectorError> {
        if let Some(other) = answer["schemaType"].as_str().filter(|kind| *kind != "AVRO") {
            let message = format!("the schema is one of {other}, not of Avro");
            return Ok(Err(Refusal { status: 0, message }));
        }
        for reference in answer["references"].as_array().into_iter().flatten() {
            let (subject, version) = (reference["subject"].as_str(), &reference["version"]);
            let path = format!("/subjects/{}/versions/{version}", encoded(subject.unwrap_or("")));
            if schema.references.len() > MAX_REFERENCES {
                let message = format!("the schema refers to more than {MAX_REFERENCES} others");
                return Ok(Err(Refusal { status: 0, message }));
            }
            let answer = match self.ask(&path, None)? {
                Ok(answer) => answer,
                Err(refusal) => return Ok(Err(refusal)),
            };
            match self.collect(&answer, schema)? {
                Ok(text) if schema.references.contains(&text) => {}
                Ok(text) => schema.references.push(text),
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        match answer["schema"].as_str() {
            Some(text) => Ok(Ok(text.to_string())),
            None => Err(self.strange("an answer without a schema")),
        }
    }

    /// Registers a schema under a subject, or finds it there; gives its number.
    pub(super) fn register(&self, subject: &str, schema: &str) -> Result<u32, ConnectorError> {
        let body = serde_json::json!({ "schema": schema }).to_string();
        let path = format!("/subjects/{}/versions", encoded(subject));
        match self.ask(&path, Some(&body))? {
            Ok(answer) => match answer["id"].as_u64().and_then(|id| u32::try_from(id).ok()) {
                Some(id) => Ok(id),
                None => Err(self.strange("an answer without a number")),
            },
            Err(Refusal { status, message }) => {
                let error = ConnectorError::new(format!(
                    "Could not register schema in registry under subject '{subject}': {message}"
                ));
                Err(match status {
                    409 => error.hint(
                        "the subject holds a schema that this one is not compatible with: change the \
                         table, name another subject, or change the subject's compatibility level",
                    ),
                    _ => error,
                })
            }
        }
    }

    /// The answer to a question: a GET, or a POST of a body. An error is one of the way to the registry.
    fn ask(
        &self,
        path: &str,
        body: Option<&str>,
    ) -> Result<Result<Value, Refusal>, ConnectorError> {
        let mut last = String::new();
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                std::thread::sleep(PAUSE * 2u32.pow(attempt - 1));
            }
            for server in &self.servers {
                match self.ask_once(server, path, body) {
                    Ok((200..=299, text)) => {
                        return match serde_json::from_str(&text) {
                            Ok(answer) => Ok(Ok(answer)),
                            Err(_) => Err(self.strange("an answer that is no JSON")),
                        };
                    }
                    Ok((status @ (401 | 403), text)) => {
                        return Err(ConnectorError::new(format!(
                            "the schema registry {} lets nobody in without a login: {}",
                            server.url,
                            reason(status, &text)
                        ))
                        .hint(
                            "set 'basic-auth.user-info' = 'name:password', or 'bearer-auth.token'",
                        ));
                    }
                    Ok((status @ 400..=499, text)) if status != 408 && status != 429 => {
                        return Ok(Err(Refusal { status, message: reason(status, &text) }));
                    }
                    Ok((status, text)) => {
                        last = format!("{}: {}", server.url, reason(status, &text))
                    }
                    Err(error) => last = format!("{}: {error}", server.url),
                }
            }
        }
        Err(ConnectorError::new(format!("the schema registry does not answer: {last}"))
            .hint("look whether it runs, and whether the option 'url' has its address")
            .transient())
    }

    fn ask_once(
        &self,
        server: &Server,
        path: &str,
        body: Option<&str>,
    ) -> Result<(u16, String), ureq::Error> {
        const TYPE: &str = "application/vnd.schemaregistry.v1+json";
        let url = format!("{}{path}", server.url);
        let authorization = server.authorization.as_deref();
        let mut response = match body {
            None => {
                let mut request = self.agent.get(url).header("accept", TYPE);
                if let Some(authorization) = authorization {
                    request = request.header("authorization", authorization);
                }
                request.call()?
            }
            Some(body) => {
                let request = self.agent.post(url).header("accept", TYPE);
                let mut request = request.header("content-type", TYPE);
                if let Some(authorization) = authorization {
                    request = request.header("authorization", authorization);
                }
                request.send(body)?
            }
        };
        Ok((response.status().as_u16(), response.body_mut().read_to_string()?))
    }

    fn strange(&self, what: &str) -> ConnectorError {
        let url = self.servers.first().map_or("", |server| &server.url);
        ConnectorError::new(format!("{url} gives {what}"))
            .hint("the option 'url' must be the address of a Confluent Schema Registry")
    }
}

impl Server {
    fn new(url: &str, login: &Login) -> Result<Self, ConnectorError> {
        let bad = || {
            ConnectorError::new(format!("'{url}' is no address of a schema registry"))
                .hint("write 'http://host:port'")
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(bad)?;
        if !matches!(scheme, "http" | "https") || rest.is_empty() {
            return Err(bad());
        }
        let (in_url, rest) = match rest.split_once('@') {
            Some((user, rest)) if !user.contains('/') => (Some(user), rest),
            _ => (None, rest),
        };
        let authorization = match (login, in_url) {
            (Login::Token(token), _) => Some(format!("Bearer {token}")),
            (Login::User(user), _) => Some(basic(user)),
            (Login::InUrl, Some(user)) => Some(basic(user)),
            (Login::InUrl, None) => None,
        };
        Ok(Self { url: format!("{scheme}://{}", rest.trim_end_matches('/')), authorization })
    }
}

fn basic(user: &str) -> String {
    let mut coded = b"Basic ".to_vec();
    write_base64(&mut coded, user.as_bytes());
    String::from_utf8_lossy(&coded).into_owned()
}

/// The registry's own words, or the status.
fn reason(status: u16, text: &str) -> String {
    let answer: Option<Value> = serde_json::from_str(text).ok();
    let message = answer.as_ref().and_then(|answer| answer["message"].as_str());
    message.map_or_else(
        || format!("status {status}"),
        |message| format!("{message} (status {status})"),
    )
}

/// A name as a part of a path.
fn encoded(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte.into());
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
