//! Schemas from their JSON text.

use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde_json::{Map, Value};

use super::schema::{AvroSchema, Field, Logical, Node, NodeId};
use crate::error::FormatError;

/// How deep types may stand within each other.
const MAX_DEPTH: usize = 100;

impl AvroSchema {
    /// Reads a schema. Names may refer to types that stand earlier in the text.
    pub(crate) fn parse(text: &str) -> Result<Self, FormatError> {
        Self::parse_with(&[], text)
    }

    /// Reads a schema that may refer to types of others, which stand in `earlier`.
    pub(crate) fn parse_with(earlier: &[String], text: &str) -> Result<Self, FormatError> {
        let mut parser = Parser { nodes: Vec::new(), names: HashMap::default() };
        for text in earlier {
            parser.text(text)?;
        }
        let root = parser.text(text)?;
        Ok(Self { nodes: parser.nodes, root })
    }
}

struct Parser {
    nodes: Vec<Node>,
    names: HashMap<Arc<str>, NodeId, FixedState>,
}

impl Parser {
    fn text(&mut self, text: &str) -> Result<NodeId, FormatError> {
        // A lone name of a primitive type may stand without quotes.
        let value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(_) if primitive(text.trim(), Logical::None).is_some() => {
                Value::String(text.trim().into())
            }
            Err(error) => return fail(format!("it is no JSON: {error}")),
        };
        self.node(&value, "", 0)
    }

    /// The node of a type that stands in the namespace `space`.
    fn node(&mut self, value: &Value, space: &str, depth: usize) -> Result<NodeId, FormatError> {
        if depth > MAX_DEPTH {
            return fail(format!("types stand in each other more than {MAX_DEPTH} deep"));
        }
        match value {
            Value::String(name) => self.named(name, space),
            Value::Array(branches) => {
                let nodes = branches
                    .iter()
                    .map(|branch| self.node(branch, space, depth + 1))
                    .collect::<Result<Vec<_>, _>>()?;
                if nodes.iter().any(|node| matches!(self.nodes[*node], Node::Union(_))) {
                    return fail("a union stands in a union");
                }
                Ok(self.add(Node::Union(nodes)))
            }
            Value::Object(object) => self.object(object, space, depth),
            other => fail(format!("{other} is no type")),
        }
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn named(&mut self, name: &str, space: &str) -> Result<NodeId, FormatError> {
        if let Some(node) = primitive(name, Logical::None) {
            return Ok(self.add(node));
        }
        let full = full_name(name, space);
        match self.names.get(&*full).or_else(|| self.names.get(name)) {
            Some(node) => Ok(*node),
            None => fail(format!("the type '{full}' is not defined")),
        }
    }

    fn object(
        &mut self,
        object: &Map<String, Value>,
        space: &str,
        depth: usize,
    ) -> Result<NodeId, FormatError> {
        let Some(of) = object.get("type") else { return fail("a type lacks its \"type\"") };
        let Value::String(of) = of else { return self.node(of, space, depth + 1) };
        let logical = logical(object);
        if let Some(node) = primitive(of, logical) {
            return Ok(self.add(node));
        }
        match of.as_str() {
            "array" => {
                let items = self.node(required(object, "items")?, space, depth + 1)?;
                Ok(self.add(Node::Array(items)))
            }
            "map" => {
                let values = self.node(required(object, "values")?, space, depth + 1)?;
                Ok(self.add(Node::Map(values)))
            }
            "fixed" => {
                let name = self.define(object, space)?;
                let size = required(object, "size")?.as_u64();
                let Some(size) = size.and_then(|size| usize::try_from(size).ok()) else {
                    return fail(format!("the size of '{name}' is no number of bytes"));
                };
                Ok(self.replace(Node::Fixed { name, size, logical }))
            }
            "enum" => {
                let name = self.define(object, space)?;
                let symbols = strings(required(object, "symbols")?).map(Box::from).collect();
                let default = object.get("default").and_then(Value::as_str).map(Box::from);
                Ok(self.replace(Node::Enum { name, symbols, default }))
            }
            "record" | "error" => self.record(object, space, depth),
            name => self.named(name, space),
        }
    }

    fn record(
        &mut self,
        object: &Map<String, Value>,
        space: &str,
        depth: usize,
    ) -> Result<NodeId, FormatError> {
        let name = self.define(object, space)?;
        let id = self.nodes.len() - 1;
        let inner = name.rsplit_once('.').map_or("", |(space, _)| space).to_string();
        let Some(list) = required(object, "fields")?.as_array() else {
            return fail(format!("the fields of '{name}' are no list"));
        };
        let mut fields: Vec<Field> = Vec::with_capacity(list.len());
        for field in list {
            let Some(field) = field.as_object() else {
                return fail(format!("a field of '{name}' is no object"));
            };
            let Some(field_name) = required(field, "name")?.as_str() else {
                return fail(format!("the name of a field of '{name}' is no text"));
            };
            if fields.iter().any(|other| &*other.name == field_name) {
                return fail(format!("'{name}' has two fields '{field_name}'"));
            }
            fields.push(Field {
                node: self.node(required(field, "type")?, &inner, depth + 1)?,
                name: field_name.into(),
                aliases: field
                    .get("aliases")
                    .map_or_else(Vec::new, |list| strings(list).map(Arc::from).collect()),
                default: field.get("default").cloned(),
            });
        }
        self.nodes[id] = Node::Record { name, fields };
        Ok(id)
    }

    /// Makes a node of a name known before what it is of, so that it can refer to itself.
    fn define(
        &mut self,
        object: &Map<String, Value>,
        space: &str,
    ) -> Result<Arc<str>, FormatError> {
        let Some(name) = required(object, "name")?.as_str() else {
            return fail("the name of a type is no text");
        };
        let space = object.get("namespace").and_then(Value::as_str).unwrap_or(space);
        let name: Arc<str> = full_name(name, space).into();
        let id = self.add(Node::Null);
        match self.names.insert(name.clone(), id) {
            None => Ok(name),
            Some(_) => fail(format!("the type '{name}' is defined twice")),
        }
    }

    /// Sets the node that was made last.
    fn replace(&mut self, node: Node) -> NodeId {
        let id = self.nodes.len() - 1;
        self.nodes[id] = node;
        id
    }
}

fn primitive(name: &str, logical: Logical) -> Option<Node> {
    let only = |fits: bool| if fits { logical } else { Logical::None };
    Some(match name {
        "null" => Node::Null,
        "boolean" => Node::Boolean,
        "int" => Node::Int(only(matches!(logical, Logical::Date | Logical::TimeMillis))),
        "long" => {
            Node::Long(only(logical.per_second().is_some() && logical != Logical::TimeMillis))
        }
        "float" => Node::Float,
        "double" => Node::Double,
        "bytes" => Node::Bytes(only(matches!(logical, Logical::Decimal { .. }))),
        "string" => Node::String,
        _ => return None,
    })
}

/// The logical type; one that is unknown or not sound counts as none.
fn logical(object: &Map<String, Value>) -> Logical {
    let Some(name) = object.get("logicalType").and_then(Value::as_str) else {
        return Logical::None;
    };
    if name != "decimal" {
        return Logical::named(name);
    }
    let number = |key: &str| object.get(key).and_then(Value::as_u64);
    let scale = number("scale").unwrap_or(0);
    match number("precision") {
        Some(precision) if precision > 0 && scale <= precision && precision < 1 << 20 => {
            Logical::Decimal { precision: precision as u32, scale: scale as u32 }
        }
        _ => Logical::None,
    }
}

fn full_name(name: &str, space: &str) -> String {
    if name.contains('.') || space.is_empty() {
        name.trim_start_matches('.').to_string()
    } else {
        format!("{space}.{name}")
    }
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn required<'v>(object: &'v Map<String, Value>, key: &str) -> Result<&'v Value, FormatError> {
    object.get(key).ok_or_else(|| FormatError::Schema(format!("\"{key}\" is missing")))
}

fn fail<T>(what: impl Into<String>) -> Result<T, FormatError> {
    Err(FormatError::Schema(what.into()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn names_are_found_in_their_namespace() {
        let schema = AvroSchema::parse(
            r#"{"type":"record","name":"A","namespace":"x.y","fields":[
                {"name":"next","type":["null","A"]},
                {"name":"e","type":{"type":"enum","name":"z.E","symbols":["P","Q"]}},
                {"name":"again","type":"z.E"},
                {"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":4,"scale":2}},
                {"name":"t","type":{"type":"long","logicalType":"timestamp-micros"},"default":0}]}"#,
        )
        .unwrap();
        let Node::Record { name, fields, .. } = schema.node(schema.root()) else { panic!() };
        assert_eq!(&**name, "x.y.A");
        assert_eq!(fields[1].node, fields[2].node);
        let Node::Union(branches) = schema.node(fields[0].node) else { panic!() };
        assert_eq!(branches[1], schema.root());
        let decimal = Logical::Decimal { precision: 4, scale: 2 };
        assert!(matches!(schema.node(fields[3].node), Node::Bytes(of) if *of == decimal));
        assert!(fields[4].default.is_some());
    }

    #[test]
    fn what_is_no_schema_says_why() {
        for (text, why) in [
            ("{", "no JSON"),
            (r#"{"name":"a"}"#, "lacks its \"type\""),
            (r#""x""#, "'x' is not defined"),
            (r#"["null",["int"]]"#, "union stands in a union"),
            (r#"{"type":"record","name":"a","fields":[{"name":"x"}]}"#, "\"type\" is missing"),
            (r#"{"type":"fixed","name":"f","size":-1}"#, "no number of bytes"),
            (
                r#"[{"type":"fixed","name":"f","size":1},{"type":"fixed","name":"f","size":1}]"#,
                "defined twice",
            ),
        ] {
            let error = AvroSchema::parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
