//! ALTER: which object, tables and views.

use super::cursor::{Parsed, Parser};
use crate::ast::{
    AlterTable, AlterTableAction, AlterView, AlterViewAction, ColumnPosition, ObjectName,
    SchemaComponent, StatementKind,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// `ALTER kind …`
    pub(super) fn alter(&mut self) -> Parsed<StatementKind> {
        self.expect(Keyword::ALTER)?;
        if self.eat(Keyword::TABLE) {
            return self.alter_table();
        }
        if self.eat(Keyword::VIEW) {
            return self.alter_view();
        }
        if self.eat(Keyword::MATERIALIZED) {
            self.expect(Keyword::TABLE)?;
            return self.alter_materialized_table();
        }
        if self.eat(Keyword::CATALOG) {
            return self.alter_catalog();
        }
        if self.eat(Keyword::DATABASE) {
            return self.alter_database();
        }
        if self.eat(Keyword::MODEL) {
            return self.alter_model();
        }
        if self.eat(Keyword::CONNECTION) {
            return self.alter_connection();
        }
        self.alter_function()
    }

    fn alter_table(&mut self) -> Parsed<StatementKind> {
        let if_exists = self.eat_if_exists();
        let name = self.object_name()?;
        let action = self.alter_table_action()?;
        Ok(StatementKind::AlterTable(Box::new(AlterTable { if_exists, name, action })))
    }

    fn alter_table_action(&mut self) -> Parsed<AlterTableAction> {
        if self.eat(Keyword::ADD) {
            if self.at(Keyword::PARTITION) || self.at(Keyword::IF) {
                return self.add_partitions();
            }
            if self.eat(Keyword::DISTRIBUTION) {
                return self.distribution().map(AlterTableAction::AddDistribution);
            }
            return self.schema_components().map(AlterTableAction::Add);
        }
        if self.eat(Keyword::MODIFY) {
            if self.eat(Keyword::DISTRIBUTION) {
                return self.distribution().map(AlterTableAction::ModifyDistribution);
            }
            return self.schema_components().map(AlterTableAction::Modify);
        }
        if self.eat(Keyword::DROP) {
            return self.drop_from_table();
        }
        if self.eat(Keyword::RENAME) {
            if self.eat(Keyword::TO) {
                return self.object_name().map(AlterTableAction::RenameTo);
            }
            let column = self.object_name()?;
            self.expect(Keyword::TO)?;
            return Ok(AlterTableAction::RenameColumn(column, self.object_name()?));
        }
        if self.eat(Keyword::SET) {
            return self.properties().map(AlterTableAction::Set);
        }
        self.expect(Keyword::RESET)?;
        self.property_keys().map(AlterTableAction::Reset)
    }

    /// `[IF NOT EXISTS] PARTITION (…) [WITH (…)] …`
    fn add_partitions(&mut self) -> Parsed<AlterTableAction> {
        let if_not_exists = self.eat_if_not_exists();
        let mut partitions = Vec::new();
        while partitions.is_empty() || self.at(Keyword::PARTITION) {
            self.expect(Keyword::PARTITION)?;
            partitions.push((self.partition_spec(false)?, self.optional_with()?));
        }
        Ok(AlterTableAction::AddPartitions { if_not_exists, partitions })
    }

    fn drop_from_table(&mut self) -> Parsed<AlterTableAction> {
        if self.at(Keyword::PARTITION) || self.follows([Keyword::IF, Keyword::EXISTS]) {
            let if_exists = self.eat_if_exists();
            let partitions = self.comma_list(|parser| {
                parser.expect(Keyword::PARTITION)?;
                parser.partition_spec(false)
            })?;
            return Ok(AlterTableAction::DropPartitions { if_exists, partitions });
        }
        if self.eat(Keyword::PRIMARY) {
            self.expect(Keyword::KEY)?;
            return Ok(AlterTableAction::DropPrimaryKey);
        }
        if self.eat(Keyword::CONSTRAINT) {
            return self.ident().map(AlterTableAction::DropConstraint);
        }
        if self.eat(Keyword::WATERMARK) {
            return Ok(AlterTableAction::DropWatermark);
        }
        if self.eat(Keyword::DISTRIBUTION) {
            return Ok(AlterTableAction::DropDistribution);
        }
        self.dropped_columns().map(AlterTableAction::DropColumns)
    }

    /// `column` or `(column, …)`
    pub(super) fn dropped_columns(&mut self) -> Parsed<Vec<ObjectName>> {
        if self.at(TokenKind::LeftParen) {
            self.paren_list(Self::object_name)
        } else {
            Ok(vec![self.object_name()?])
        }
    }

    /// `component` or `(component, …)`
    pub(super) fn schema_components(&mut self) -> Parsed<Vec<SchemaComponent>> {
        if self.at(TokenKind::LeftParen) {
            self.paren_list(Self::schema_component)
        } else {
            Ok(vec![self.schema_component()?])
        }
    }

    fn schema_component(&mut self) -> Parsed<SchemaComponent> {
        if self.at(Keyword::WATERMARK) {
            return self.watermark().map(SchemaComponent::Watermark);
        }
        if self.at_constraint() {
            return self.table_constraint().map(SchemaComponent::Constraint);
        }
        let definition = self.column()?;
        let position = if self.eat(Keyword::FIRST) {
            Some(ColumnPosition::First)
        } else {
            self.optional(Keyword::AFTER, Self::object_name)?.map(ColumnPosition::After)
        };
        Ok(SchemaComponent::Column { definition, position })
    }

    fn alter_view(&mut self) -> Parsed<StatementKind> {
        let name = self.object_name()?;
        let action = if self.eat(Keyword::RENAME) {
            self.expect(Keyword::TO)?;
            AlterViewAction::RenameTo(self.object_name()?)
        } else {
            self.expect(Keyword::AS)?;
            AlterViewAction::As(Box::new(self.query()?))
        };
        Ok(StatementKind::AlterView(Box::new(AlterView { name, action })))
    }
}
