//! CREATE TABLE and the parts of a table's definition.

use super::cursor::{Parsed, Parser};
use crate::ast::{
    ColumnDefinition, ColumnKind, ConstraintKind, CreateMode, CreateTable, Distribution,
    DistributionKind, Ident, LikeFeature, MergingStrategy, ObjectName, StatementKind,
    TableConstraint, TableElement, TableLike, TableLikeOption, WatermarkDefinition,
};
use crate::error::ParseErrorKind;
use crate::lexer::{Keyword, TokenKind};

/// What stands between the parentheses behind a table's name.
#[derive(Default)]
pub(super) struct TableSchema {
    pub(super) elements: Vec<TableElement>,
    pub(super) column_names: Vec<Ident>,
}

impl Parser<'_> {
    /// `REPLACE [TEMPORARY] TABLE … AS query`
    pub(super) fn replace_table(&mut self) -> Parsed<StatementKind> {
        self.expect(Keyword::REPLACE)?;
        let temporary = self.eat(Keyword::TEMPORARY);
        self.expect(Keyword::TABLE)?;
        self.create_table(CreateMode::Replace, temporary)
    }

    /// What stands behind `CREATE TABLE`.
    pub(super) fn create_table(
        &mut self,
        mode: CreateMode,
        temporary: bool,
    ) -> Parsed<StatementKind> {
        let if_not_exists = self.eat_if_not_exists();
        let name = self.object_name()?;
        let schema_start = self.start();
        let TableSchema { elements, column_names } = self.optional_table_schema()?;
        let schema = self.span_from(schema_start);
        let comment = self.optional_comment()?;
        let distribution = self.optional(Keyword::DISTRIBUTED, Self::distribution)?;
        let partitioned_by = self.optional_partitioned_by()?;
        let options = self.optional_with()?;
        let mut like = None;
        if mode != CreateMode::Replace {
            like = self.optional(Keyword::LIKE, Self::table_like)?;
        }
        let query = if mode == CreateMode::Replace {
            self.expect(Keyword::AS)?;
            Some(self.query()?)
        } else if like.is_none() {
            self.optional(Keyword::AS, Self::query)?
        } else {
            None
        };
        if query.is_none() && !column_names.is_empty() {
            let error = self.error(ParseErrorKind::ColumnsWithoutTypes, schema);
            return Err(error.with_hint("give each column a type, or a query with AS"));
        }
        Ok(StatementKind::CreateTable(Box::new(CreateTable {
            mode,
            temporary,
            if_not_exists,
            name,
            elements,
            column_names,
            comment,
            distribution,
            partitioned_by,
            options,
            like,
            query,
        })))
    }

    /// `(element, …)` or `(name, …)`, if it is there.
    pub(super) fn optional_table_schema(&mut self) -> Parsed<TableSchema> {
        if !self.at(TokenKind::LeftParen) {
            return Ok(TableSchema::default());
        }
        let is_name_list = self.ident_ahead(1)
            && (self.ahead(2, TokenKind::Comma) || self.ahead(2, TokenKind::RightParen));
        if is_name_list {
            let column_names = self.paren_idents()?;
            return Ok(TableSchema { elements: Vec::new(), column_names });
        }
        let mut watermarks = 0;
        let elements = self.paren_list(|parser| {
            let place = parser.peek().span;
            let element = parser.table_element()?;
            watermarks += usize::from(matches!(element, TableElement::Watermark(_)));
            if watermarks > 1 {
                return Err(parser.error(ParseErrorKind::MultipleWatermarks, place));
            }
            Ok(element)
        })?;
        Ok(TableSchema { elements, column_names: Vec::new() })
    }

    fn table_element(&mut self) -> Parsed<TableElement> {
        if self.at(Keyword::WATERMARK) {
            return self.watermark().map(TableElement::Watermark);
        }
        if self.at_constraint() {
            return self.table_constraint().map(TableElement::Constraint);
        }
        self.column().map(TableElement::Column)
    }

    /// `WATERMARK FOR column AS e`
    pub(super) fn watermark(&mut self) -> Parsed<WatermarkDefinition> {
        let start = self.expect(Keyword::WATERMARK)?.start;
        self.expect(Keyword::FOR)?;
        let column = self.object_name()?;
        self.expect(Keyword::AS)?;
        let expr = self.expr()?;
        Ok(WatermarkDefinition { column, expr, span: self.span_from(start) })
    }

    /// `name type …`, `name type METADATA …` or `name AS e`
    pub(super) fn column(&mut self) -> Parsed<ColumnDefinition> {
        let start = self.start();
        let name = self.object_name()?;
        let kind = if self.eat(Keyword::AS) {
            ColumnKind::Computed(self.expr()?)
        } else {
            let data_type = self.nullable_type()?;
            if self.eat(Keyword::METADATA) {
                let key = self.optional(Keyword::FROM, Self::string)?;
                ColumnKind::Metadata { data_type, key, is_virtual: self.eat(Keyword::VIRTUAL) }
            } else {
                let constraint =
                    if self.at_constraint() { Some(self.column_constraint(&name)?) } else { None };
                ColumnKind::Physical { data_type, constraint }
            }
        };
        let comment = self.optional_comment()?;
        Ok(ColumnDefinition { name, kind, comment, span: self.span_from(start) })
    }

    /// Whether a key begins here.
    pub(super) fn at_constraint(&mut self) -> bool {
        self.at(Keyword::CONSTRAINT) || self.at(Keyword::PRIMARY) || self.at(Keyword::UNIQUE)
    }

    /// `[CONSTRAINT name] {PRIMARY KEY | UNIQUE} (column, …) [[NOT] ENFORCED]`
    pub(super) fn table_constraint(&mut self) -> Parsed<TableConstraint> {
        let start = self.start();
        let name = self.optional(Keyword::CONSTRAINT, Self::ident)?;
        let kind = self.constraint_kind()?;
        let columns = self.paren_idents()?;
        let enforced = self.optional_enforcement();
        Ok(TableConstraint { name, kind, columns, enforced, span: self.span_from(start) })
    }

    /// The same without columns, behind the type of `column`.
    fn column_constraint(&mut self, column: &ObjectName) -> Parsed<TableConstraint> {
        let start = self.start();
        let name = self.optional(Keyword::CONSTRAINT, Self::ident)?;
        let kind = self.constraint_kind()?;
        let columns = column.parts.last().cloned().into_iter().collect();
        let enforced = self.optional_enforcement();
        Ok(TableConstraint { name, kind, columns, enforced, span: self.span_from(start) })
    }

    fn constraint_kind(&mut self) -> Parsed<ConstraintKind> {
        if self.eat(Keyword::UNIQUE) {
            return Ok(ConstraintKind::Unique);
        }
        self.expect_all([Keyword::PRIMARY, Keyword::KEY])?;
        Ok(ConstraintKind::PrimaryKey)
    }

    fn optional_enforcement(&mut self) -> Option<bool> {
        if self.eat(Keyword::ENFORCED) {
            Some(true)
        } else {
            self.eat_all([Keyword::NOT, Keyword::ENFORCED]).then_some(false)
        }
    }

    /// `BY [HASH|RANGE] (column, …) [INTO n BUCKETS]` or `INTO n BUCKETS`
    pub(super) fn distribution(&mut self) -> Parsed<Distribution> {
        let start = self.start();
        let (mut kind, mut columns) = (None, Vec::new());
        let buckets = if self.eat(Keyword::BY) {
            if self.eat(Keyword::HASH) {
                kind = Some(DistributionKind::Hash);
            } else if self.eat(Keyword::RANGE) {
                kind = Some(DistributionKind::Range);
            }
            columns = self.paren_idents()?;
            self.optional(Keyword::INTO, Self::buckets)?
        } else {
            self.expect(Keyword::INTO)?;
            Some(self.buckets()?)
        };
        Ok(Distribution { kind, columns, buckets, span: self.span_from(start) })
    }

    /// `n BUCKETS`
    fn buckets(&mut self) -> Parsed<u32> {
        if matches!(self.peek().kind, TokenKind::Decimal | TokenKind::Approximate) {
            return Err(self.error_here(ParseErrorKind::BucketCount));
        }
        let count = self.unsigned_int()?;
        self.expect(Keyword::BUCKETS)?;
        Ok(count)
    }

    /// `PARTITIONED BY (column, …)`, if it is there.
    pub(super) fn optional_partitioned_by(&mut self) -> Parsed<Vec<Ident>> {
        if !self.eat(Keyword::PARTITIONED) {
            return Ok(Vec::new());
        }
        self.expect(Keyword::BY)?;
        self.paren_idents()
    }

    /// `source [(option …)]` behind LIKE
    fn table_like(&mut self) -> Parsed<TableLike> {
        let start = self.start();
        let source = self.object_name()?;
        let mut options = Vec::new();
        if self.eat(TokenKind::LeftParen) {
            options.push(self.table_like_option()?);
            while !self.eat(TokenKind::RightParen) {
                options.push(self.table_like_option()?);
            }
        }
        Ok(TableLike { source, options, span: self.span_from(start) })
    }

    fn table_like_option(&mut self) -> Parsed<TableLikeOption> {
        let start = self.start();
        let strategy = if self.eat(Keyword::INCLUDING) {
            MergingStrategy::Including
        } else if self.eat(Keyword::EXCLUDING) {
            MergingStrategy::Excluding
        } else {
            self.expect(Keyword::OVERWRITING)?;
            MergingStrategy::Overwriting
        };
        const FEATURES: [(Keyword, LikeFeature); 8] = [
            (Keyword::ALL, LikeFeature::All),
            (Keyword::CONSTRAINTS, LikeFeature::Constraints),
            (Keyword::DISTRIBUTION, LikeFeature::Distribution),
            (Keyword::GENERATED, LikeFeature::Generated),
            (Keyword::METADATA, LikeFeature::Metadata),
            (Keyword::OPTIONS, LikeFeature::Options),
            (Keyword::PARTITIONS, LikeFeature::Partitions),
            (Keyword::WATERMARKS, LikeFeature::Watermarks),
        ];
        for (keyword, feature) in FEATURES {
            if self.eat(keyword) {
                return Ok(TableLikeOption { strategy, feature, span: self.span_from(start) });
            }
        }
        Err(self.unexpected())
    }
}
