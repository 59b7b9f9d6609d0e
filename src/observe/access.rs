//! What a path in a command means in the model: a field, a parent, or records inside of a document.

use crate::infer::layout::{EntityPlace, FieldPlace, Layout};

/// What a path names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Named<'l> {
    /// A field of a record. Below it may be more, such as the key of a map.
    Field { entity: &'l EntityPlace, field: &'l FieldPlace, below: bool },
    /// The `_id` of the parent of a record.
    Parent { entity: &'l EntityPlace },
    /// The list of the `_id`s of children.
    Children { child: &'l EntityPlace },
    /// The array with whole children.
    Array { child: &'l EntityPlace },
}

impl<'l> Named<'l> {
    /// The entity of the record that has it.
    pub(super) fn owner(self, layout: &'l Layout) -> Option<&'l EntityPlace> {
        match self {
            Named::Field { entity, .. } | Named::Parent { entity } => Some(entity),
            Named::Children { child } | Named::Array { child } => parent(layout, child),
        }
    }
}

/// What stands for the elements of an array in the paths of a layout.
const ELEMENTS: &str = "[]";

/// Whether a path of the layout is this one, but for arrays, which paths of commands pass through.
fn is_path(known: &[String], path: &[String]) -> bool {
    starts_with(path, known) == Some(path.len())
}

/// How many parts of a path the known one has, if it begins with it.
fn starts_with(path: &[String], known: &[String]) -> Option<usize> {
    let known: Vec<&String> = known.iter().filter(|part| *part != ELEMENTS).collect();
    (!known.is_empty() && known.len() <= path.len() && known.iter().zip(path).all(|(a, b)| *a == b))
        .then_some(known.len())
}

/// The field of the record's key.
pub(super) const KEY: &str = "_id";

/// The entity whose records are the documents of a collection.
pub(super) fn root<'l>(layout: &'l Layout, collection: &str) -> Option<&'l EntityPlace> {
    layout.entities.iter().find(|entity| entity.collection == collection && entity.array.is_none())
}

/// The entity with this name.
pub(super) fn entity<'l>(layout: &'l Layout, name: &str) -> Option<&'l EntityPlace> {
    layout.entities.iter().find(|entity| entity.entity == name)
}

/// The parent of an entity.
pub(super) fn parent<'l>(layout: &'l Layout, child: &EntityPlace) -> Option<&'l EntityPlace> {
    entity(layout, &child.parent.as_ref()?.entity)
}

/// The path of the key of a record, below the record.
pub(super) fn key_path(entity: &EntityPlace) -> String {
    let key = entity.fields.iter().find(|field| field.field == KEY);
    key.map(|key| key.path.join(".")).filter(|path| !path.is_empty()).unwrap_or_else(|| KEY.to_owned())
}

/// The children that are inside of a record.
pub(super) fn inside<'l>(layout: &'l Layout, owner: &EntityPlace) -> Vec<&'l EntityPlace> {
    let is_child = |child: &&EntityPlace| {
        child.array.is_some()
            && child.collection == owner.collection
            && child.parent.as_ref().is_some_and(|parent| parent.entity == owner.entity)
    };
    layout.entities.iter().filter(is_child).collect()
}

/// Returns what a path in the documents of a collection names, without positions (`$`, `$[x]`, numbers) in arrays of records.
pub(super) fn named<'l>(layout: &'l Layout, collection: &str, path: &str) -> Option<Named<'l>> {
    let is_array = |path: &[String]| {
        let of_collection = layout.entities.iter().filter(|entity| entity.collection == collection);
        of_collection.filter_map(|entity| entity.array.as_deref()).any(|array| is_path(array, path))
    };
    let mut parts: Vec<String> = Vec::new();
    for part in path.split('.') {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let is_position = part.starts_with('$') || (is_number && is_array(&parts));
        if !is_position {
            parts.push(part.to_owned());
        }
    }
    let depth = |entity: &EntityPlace| match &entity.array {
        Some(array) => starts_with(&parts, array),
        None => Some(0),
    };
    let of_collection = layout.entities.iter().filter(|entity| entity.collection == collection);
    let (depth, entity) =
        of_collection.filter_map(|entity| Some((depth(entity)?, entity))).max_by_key(|(depth, _)| *depth)?;
    let rest = &parts[depth..];
    if rest.is_empty() {
        return Some(Named::Array { child: entity });
    }
    of_record(layout, entity, rest)
}

fn of_record<'l>(layout: &'l Layout, entity: &'l EntityPlace, path: &[String]) -> Option<Named<'l>> {
    let reference = entity.parent.as_ref().and_then(|parent| parent.reference.as_ref());
    if reference.is_some_and(|reference| is_path(reference, path)) {
        return Some(Named::Parent { entity });
    }
    let is_list = |child: &&EntityPlace| {
        let parent = child.parent.as_ref();
        parent.is_some_and(|parent| {
            parent.entity == entity.entity && parent.list.as_ref().is_some_and(|list| is_path(list, path))
        })
    };
    if let Some(child) = layout.entities.iter().find(is_list) {
        return Some(Named::Children { child });
    }
    let fields = entity.fields.iter().filter_map(|field| Some((starts_with(path, &field.path)?, field)));
    let (length, field) = fields.max_by_key(|(length, _)| *length)?;
    Some(Named::Field { entity, field, below: length < path.len() })
}

/// A path with `*` for what is below a field, where the keys of maps are.
pub(super) fn without_keys(layout: &Layout, collection: &str, path: &str) -> String {
    match named(layout, collection, path) {
        Some(Named::Field { entity, field, below: true }) => {
            let array = entity.array.as_deref().unwrap_or_default();
            let known = array.iter().chain(&field.path).map(String::as_str).filter(|part| *part != ELEMENTS);
            let known: Vec<&str> = known.collect();
            format!("{}.*", known.join("."))
        }
        _ => path.to_owned(),
    }
}

/// A layout of a shop for tests, as its documents are.
#[cfg(test)]
pub(super) mod tests {
    use crate::infer::layout::ParentPlace;

    use super::*;

    pub(in crate::observe) fn field(name: &str, generator: &str) -> FieldPlace {
        let path = name.split('.').map(str::to_owned).collect();
        FieldPlace { field: name.replace('.', "_"), path, generator: generator.to_owned(), ..FieldPlace::default() }
    }

    fn reference(name: &str, target: &str) -> FieldPlace {
        FieldPlace { refers: Some(target.to_owned()), ..field(name, &format!("uniform({target})")) }
    }

    fn unique(name: &str, generator: &str) -> FieldPlace {
        FieldPlace { unique: true, ..field(name, generator) }
    }

    fn of(parent: &str, relation: &str, reference: Option<&str>) -> Option<ParentPlace> {
        let reference = reference.map(|path| vec![path.to_owned()]);
        Some(ParentPlace { entity: parent.to_owned(), relation: relation.to_owned(), reference, list: None })
    }

    fn place(entity: &str, collection: &str, count: u64, fields: Vec<FieldPlace>) -> EntityPlace {
        let (entity, collection) = (entity.to_owned(), collection.to_owned());
        EntityPlace { entity, collection, count, fields, ..EntityPlace::default() }
    }

    /// Products with a map, users with addresses inside, orders of users, reviews of products.
    pub(in crate::observe) fn shop() -> Layout {
        let product = vec![
            field("_id", "index"),
            unique("sku", "'s' + string(index)"),
            field("name", "words(3)"),
            field("category", "one_of(['a', 'b'])"),
            field("price", "uniform(1, 900)"),
            field("stock", "uniform(1, 100)"),
            field("places", "uniform(1, 9)"),
            FieldPlace {
                is_list: true,
                path: vec!["similar".to_owned(), ELEMENTS.to_owned()],
                ..reference("similar", "product")
            },
        ];
        let product = EntityPlace { ..place("product", "products", 300, product) };
        let user = vec![
            field("_id", "index"),
            unique("email", "'e' + string(index)"),
            field("name", "full_name()"),
            field("city", "city()"),
        ];
        let address = vec![field("_id", "oid()"), field("street", "words(2)"), field("main", "false")];
        let order = vec![
            field("_id", "oid()"),
            field("placed", "clock()"),
            field("status", "'open'"),
            field("cents", "uniform(1, 90000)"),
        ];
        let line = vec![
            field("_id", "oid()"),
            reference("product", "product"),
            field("quantity", "uniform(1, 5)"),
            field("price", "uniform(1, 900)"),
        ];
        let review = vec![
            field("_id", "oid()"),
            reference("user", "user"),
            field("stars", "uniform(1, 5)"),
            field("at", "clock()"),
            field("text", "words(9)"),
        ];
        let sort = |name: &str| vec![(name.to_owned(), 1), ("_id".to_owned(), 1)];
        Layout {
            entities: vec![
                product,
                place("user", "users", 400, user),
                EntityPlace {
                    array: Some(vec!["addresses".to_owned()]),
                    parent: of("user", "addresses", None),
                    sort: vec![("_id".to_owned(), 1)],
                    ..place("address", "users", 800, address)
                },
                EntityPlace {
                    parent: of("user", "orders", Some("user")),
                    sort: sort("placed"),
                    ..place("order", "orders", 2000, order)
                },
                EntityPlace {
                    array: Some(vec!["lines".to_owned()]),
                    parent: of("order", "lines", None),
                    sort: vec![("_id".to_owned(), 1)],
                    ..place("line", "orders", 4000, line)
                },
                EntityPlace {
                    parent: of("product", "reviews", Some("product")),
                    sort: sort("at"),
                    ..place("review", "reviews", 2000, review)
                },
            ],
        }
    }

    #[test]
    fn paths_name_fields_parents_and_records_inside() {
        let layout = shop();
        let named = |collection: &str, path: &str| match named(&layout, collection, path) {
            Some(Named::Field { entity, field, below }) => format!("{}.{} {below}", entity.entity, field.field),
            Some(Named::Parent { entity }) => format!("parent of {}", entity.entity),
            Some(Named::Array { child } | Named::Children { child }) => format!("all {}", child.entity),
            None => "none".to_owned(),
        };
        assert_eq!(named("orders", "user"), "parent of order");
        assert_eq!(named("orders", "lines.product"), "line.product false");
        assert_eq!(named("users", "addresses.$[a].street"), "address.street false");
        assert_eq!(named("users", "addresses.0.street"), "address.street false");
        assert_eq!(named("users", "addresses"), "all address");
        assert_eq!(named("products", "places.w7"), "product.places true");
        assert_eq!(named("users", "unknown"), "none");
        assert_eq!(named("products", "similar"), "product.similar false");
        assert_eq!(without_keys(&layout, "products", "places.w7.n"), "places.*");
    }
}
