//! SHOW and DESCRIBE.

use super::cursor::{Parsed, Parser};
use crate::ast::{
    Describe, DescribeKind, ObjectName, Show, ShowKind, ShowPattern, StatementKind, Text,
};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind};

/// Which clauses may stand behind what SHOW shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clauses {
    None,
    /// `[NOT] {LIKE|ILIKE} 'pattern'`
    Pattern,
    /// `[{FROM|IN} name] [[NOT] LIKE 'pattern']`
    PlaceAndLike,
    /// `[{FROM|IN} name] [[NOT] {LIKE|ILIKE} 'pattern']`
    PlaceAndPattern,
}

impl Parser<'_> {
    /// `SHOW …`
    pub(super) fn show(&mut self) -> Parsed<StatementKind> {
        self.expect(Keyword::SHOW)?;
        let (kind, clauses) = self.show_kind()?;
        let within = match clauses {
            Clauses::PlaceAndLike | Clauses::PlaceAndPattern => self.optional_place(&kind)?,
            _ => None,
        };
        let pattern = match clauses {
            Clauses::None => None,
            Clauses::PlaceAndLike => self.optional_pattern(false)?,
            _ => self.optional_pattern(true)?,
        };
        Ok(StatementKind::Show(Box::new(Show { kind, within, pattern })))
    }

    fn show_kind(&mut self) -> Parsed<(ShowKind, Clauses)> {
        const SIMPLE: [(Keyword, ShowKind, Clauses); 13] = [
            (Keyword::CATALOGS, ShowKind::Catalogs, Clauses::Pattern),
            (Keyword::DATABASES, ShowKind::Databases, Clauses::PlaceAndPattern),
            (Keyword::TABLES, ShowKind::Tables, Clauses::PlaceAndLike),
            (Keyword::VIEWS, ShowKind::Views, Clauses::PlaceAndLike),
            (Keyword::FUNCTIONS, ShowKind::Functions { user: false }, Clauses::PlaceAndPattern),
            (Keyword::PROCEDURES, ShowKind::Procedures, Clauses::PlaceAndPattern),
            (Keyword::MODULES, ShowKind::Modules { full: false }, Clauses::None),
            (Keyword::MODELS, ShowKind::Models, Clauses::PlaceAndLike),
            (Keyword::CONNECTIONS, ShowKind::Connections, Clauses::PlaceAndLike),
            (Keyword::JARS, ShowKind::Jars, Clauses::None),
            (Keyword::JOBS, ShowKind::Jobs, Clauses::None),
            (Keyword::CONNECTORS, ShowKind::Connectors, Clauses::Pattern),
            (Keyword::FORMATS, ShowKind::Formats, Clauses::Pattern),
        ];
        for (keyword, kind, clauses) in SIMPLE {
            if self.eat(keyword) {
                return Ok((kind, clauses));
            }
        }
        if self.eat(Keyword::CURRENT) {
            if self.eat(Keyword::DATABASE) {
                return Ok((ShowKind::CurrentDatabase, Clauses::None));
            }
            self.expect(Keyword::CATALOG)?;
            return Ok((ShowKind::CurrentCatalog, Clauses::None));
        }
        if self.eat(Keyword::CREATE) {
            return Ok((self.show_create()?, Clauses::None));
        }
        if self.eat(Keyword::MATERIALIZED) {
            self.expect(Keyword::TABLES)?;
            return Ok((ShowKind::MaterializedTables, Clauses::PlaceAndLike));
        }
        if self.eat(Keyword::USER) {
            self.expect(Keyword::FUNCTIONS)?;
            return Ok((ShowKind::Functions { user: true }, Clauses::PlaceAndPattern));
        }
        if self.eat(Keyword::FULL) {
            self.expect(Keyword::MODULES)?;
            return Ok((ShowKind::Modules { full: true }, Clauses::None));
        }
        if self.eat(Keyword::PARTITIONS) {
            let table = self.object_name()?;
            let partition =
                self.optional(Keyword::PARTITION, |parser| parser.partition_spec(false))?;
            return Ok((ShowKind::Partitions(table, partition), Clauses::None));
        }
        self.expect(Keyword::COLUMNS)?;
        if !self.at(Keyword::FROM) && !self.at(Keyword::IN) {
            return Err(self.unexpected());
        }
        Ok((ShowKind::Columns, Clauses::PlaceAndLike))
    }

    fn show_create(&mut self) -> Parsed<ShowKind> {
        if self.eat(Keyword::TABLE) {
            return self.object_name().map(ShowKind::CreateTable);
        }
        if self.eat(Keyword::VIEW) {
            return self.object_name().map(ShowKind::CreateView);
        }
        if self.eat(Keyword::CATALOG) {
            return self.ident().map(ShowKind::CreateCatalog);
        }
        if self.eat(Keyword::MODEL) {
            return self.object_name().map(ShowKind::CreateModel);
        }
        if self.eat(Keyword::CONNECTION) {
            return self.object_name().map(ShowKind::CreateConnection);
        }
        let or_alter = self.eat_all([Keyword::OR, Keyword::ALTER]);
        self.expect_all([Keyword::MATERIALIZED, Keyword::TABLE])?;
        Ok(ShowKind::CreateMaterializedTable { or_alter, name: self.object_name()? })
    }

    /// `{FROM|IN} name`, if it is there.
    fn optional_place(&mut self, kind: &ShowKind) -> Parsed<Option<ObjectName>> {
        if !self.eat(Keyword::FROM) && !self.eat(Keyword::IN) {
            return Ok(None);
        }
        let name = self.object_name()?;
        if *kind == ShowKind::Databases && name.parts.len() > 1 {
            return Err(self.error(ParseErrorKind::ShowDatabasesFrom, name.span));
        }
        Ok(Some(name))
    }

    /// `[NOT] {LIKE|ILIKE} 'pattern'`, if it is there.
    fn optional_pattern(&mut self, ilike: bool) -> Parsed<Option<ShowPattern>> {
        let negated = self.eat(Keyword::NOT);
        let ignore_case = ilike && self.eat(Keyword::ILIKE);
        if !ignore_case && !self.eat(Keyword::LIKE) {
            return if negated { Err(self.unexpected()) } else { Ok(None) };
        }
        Ok(Some(ShowPattern { negated, ignore_case, pattern: self.plain_string()? }))
    }

    /// `{DESCRIBE|DESC} …`
    pub(super) fn describe(&mut self) -> Parsed<StatementKind> {
        self.advance();
        if self.eat(Keyword::JOB) {
            let kind = DescribeKind::Job(self.plain_string()?);
            return Ok(StatementKind::Describe(Describe { kind, extended: false }));
        }
        // Without a string behind it, the word is the name of a table, as in Flink.
        for (keyword, kind) in [
            (Keyword::CONNECTOR, DescribeKind::Connector as fn(Text) -> DescribeKind),
            (Keyword::FORMAT, DescribeKind::Format),
        ] {
            if self.ahead(0, keyword) && self.ahead(1, TokenKind::String) {
                self.advance();
                let kind = kind(self.plain_string()?);
                return Ok(StatementKind::Describe(Describe { kind, extended: false }));
            }
        }
        let object = [
            Keyword::CATALOG,
            Keyword::DATABASE,
            Keyword::FUNCTION,
            Keyword::MODEL,
            Keyword::CONNECTION,
        ]
        .into_iter()
        .find(|&keyword| self.eat(keyword));
        let extended = self.eat(Keyword::EXTENDED);
        let kind = match object {
            Some(Keyword::CATALOG) => DescribeKind::Catalog(self.ident()?),
            Some(Keyword::DATABASE) => DescribeKind::Database(self.object_name()?),
            Some(Keyword::FUNCTION) => DescribeKind::Function(self.object_name()?),
            Some(Keyword::MODEL) => DescribeKind::Model(self.object_name()?),
            Some(_) => DescribeKind::Connection(self.object_name()?),
            None => DescribeKind::Table(self.object_name()?),
        };
        Ok(StatementKind::Describe(Describe { kind, extended }))
    }
}
