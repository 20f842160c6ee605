//! The options of both formats.

use flott_catalog::connector::{ConnectorError, OptionDef, OptionKind, Options};

use super::client::{Client, Login};

const URL: OptionDef = OptionDef::new(
    "url",
    OptionKind::Text,
    "the address of the schema registry, required; several with commas",
);
const OLD_URL: OptionDef =
    OptionDef::new("schema-registry.url", OptionKind::Text, "the old name of 'url'");
const SUBJECT: OptionDef = OptionDef::new(
    "subject",
    OptionKind::Text,
    "the subject that the schema is registered under when writing; '<topic>-value' or '<topic>-key' \
     with the Kafka connectors",
);
const OLD_SUBJECT: OptionDef =
    OptionDef::new("schema-registry.subject", OptionKind::Text, "the old name of 'subject'");
const SCHEMA: OptionDef = OptionDef::new(
    "schema",
    OptionKind::Text,
    "the schema that is registered and read by, which must agree with the table's columns; derived from \
     them when absent",
);
const OLD_SCHEMA: OptionDef =
    OptionDef::new("schema-registry.schema", OptionKind::Text, "the old name of 'schema'");
const KEYSTORE: OptionDef = OptionDef::new(
    "ssl.keystore.location",
    OptionKind::Text,
    "a file of the client's certificates and its key, in PEM",
);
const KEYSTORE_PASSWORD: OptionDef = OptionDef::new(
    "ssl.keystore.password",
    OptionKind::Text,
    "the password of a Java key store, which is refused: PEM files have none",
);
const TRUSTSTORE: OptionDef = OptionDef::new(
    "ssl.truststore.location",
    OptionKind::Text,
    "a file of the certificates to trust, in PEM",
);
const TRUSTSTORE_PASSWORD: OptionDef = OptionDef::new(
    "ssl.truststore.password",
    OptionKind::Text,
    "the password of a Java trust store, which is refused: PEM files have none",
);
const BASIC_SOURCE: OptionDef = OptionDef::new(
    "basic-auth.credentials-source",
    OptionKind::Enum(&["USER_INFO", "URL"]),
    "where name and password are: in 'basic-auth.user-info', or in the address",
);
const BASIC_USER: OptionDef =
    OptionDef::new("basic-auth.user-info", OptionKind::Text, "the login, as name:password");
const BEARER_SOURCE: OptionDef = OptionDef::new(
    "bearer-auth.credentials-source",
    OptionKind::Enum(&["STATIC_TOKEN"]),
    "where the token is: in 'bearer-auth.token'",
);
const BEARER_TOKEN: OptionDef =
    OptionDef::new("bearer-auth.token", OptionKind::Text, "the token to show");
const PROPERTIES: OptionDef = OptionDef::new(
    "properties.*",
    OptionKind::Text,
    "a property of Confluent's Java client; those of the login count, others do nothing",
);

pub(super) const OPTIONS: &[OptionDef] = &[
    URL,
    SUBJECT,
    SCHEMA,
    KEYSTORE,
    KEYSTORE_PASSWORD,
    TRUSTSTORE,
    TRUSTSTORE_PASSWORD,
    BASIC_SOURCE,
    BASIC_USER,
    BEARER_SOURCE,
    BEARER_TOKEN,
    PROPERTIES,
    OLD_URL,
    OLD_SUBJECT,
    OLD_SCHEMA,
];

/// What the options say, checked.
pub(super) struct Settings {
    options: Options,
    format: &'static str,
}

impl Settings {
    pub(super) fn of(options: &Options, format: &'static str) -> Self {
        Self { options: options.clone(), format }
    }

    /// A client of the registry; asks nothing yet.
    pub(super) fn client(&self) -> Result<Client, ConnectorError> {
        let url = self.either(&URL, &OLD_URL).filter(|url| !url.trim().is_empty());
        let Some(url) = url else {
            return Err(ConnectorError::new(format!(
                "format '{}' needs the option 'url', which is missing",
                self.format
            ))
            .hint(format!("add '{}.url' = 'http://…' to the WITH clause", self.format)));
        };
        for password in [&KEYSTORE_PASSWORD, &TRUSTSTORE_PASSWORD] {
            if self.options.raw(password.key).is_some() {
                return Err(ConnectorError::new(format!(
                    "'{}.{}' is for Java key stores, which are not read",
                    self.format, password.key
                ))
                .hint("name PEM files in 'ssl.keystore.location' and 'ssl.truststore.location'"));
            }
        }
        let file = |def: &OptionDef| self.options.raw(def.key);
        Client::new(url, self.login()?, file(&TRUSTSTORE), file(&KEYSTORE))
    }

    fn login(&self) -> Result<Login, ConnectorError> {
        let property = |def: &OptionDef, property: &str| {
            self.options
                .raw(def.key)
                .or_else(|| self.options.raw(&format!("properties.{property}")))
        };
        let checked = |def: &OptionDef, name: &str| match property(def, name) {
            Some(source) => def.check(def.key, source).map(|()| Some(source.trim())),
            None => Ok(None),
        };
        let bearer = checked(&BEARER_SOURCE, "bearer.auth.credentials.source")?;
        if let Some(token) = property(&BEARER_TOKEN, "bearer.auth.token") {
            return Ok(Login::Token(token.into()));
        }
        if bearer.is_some() {
            return Err(self.incomplete("bearer-auth.token"));
        }
        let source = checked(&BASIC_SOURCE, "basic.auth.credentials.source")?;
        let user = property(&BASIC_USER, "basic.auth.user.info");
        match (source, user) {
            (Some("URL"), _) | (None, None) => Ok(Login::InUrl),
            (_, Some(user)) => Ok(Login::User(user.into())),
            (Some(_), None) => Err(self.incomplete("basic-auth.user-info")),
        }
    }

    fn incomplete(&self, key: &str) -> ConnectorError {
        ConnectorError::new(format!("the login lacks '{}.{key}'", self.format))
    }

    /// The schema that was given, if one was.
    pub(super) fn schema(&self) -> Option<&str> {
        self.either(&SCHEMA, &OLD_SCHEMA)
    }

    /// The subject to register under.
    pub(super) fn subject(&self) -> Result<String, ConnectorError> {
        self.either(&SUBJECT, &OLD_SUBJECT).map(str::to_string).ok_or_else(|| {
            ConnectorError::new(format!(
                "Option '{}.subject' is required for serialization",
                self.format
            ))
            .hint("only the connectors 'kafka' and 'upsert-kafka' know one by themselves")
        })
    }

    fn either(&self, new: &OptionDef, old: &OptionDef) -> Option<&str> {
        self.options.raw(new.key).or_else(|| self.options.raw(old.key))
    }
}
