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

    /// The name of the field or relation in the model.
    pub(super) fn name(self) -> &'l str {
        match self {
            Named::Field { field, .. } => &field.field,
            Named::Parent { entity } => relation_to_parent(entity),
            Named::Children { child } | Named::Array { child } => relation_name(child),
        }
    }

    /// The entity of the records that it leads to.
    pub(super) fn target(self, layout: &'l Layout) -> Option<&'l EntityPlace> {
        match self {
            Named::Field { field, below: false, .. } => entity(layout, field.refers.as_ref()?),
            Named::Field { .. } => None,
            Named::Parent { entity } => parent(layout, entity),
            Named::Children { child } | Named::Array { child } => Some(child),
        }
    }
}

/// What stands for the elements of an array in the paths of a layout. Paths of commands pass through arrays.
const ELEMENTS: &str = "[]";

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

/// The name of the relation from the parent to these children.
pub(super) fn relation_name(child: &EntityPlace) -> &str {
    child.parent.as_ref().map(|parent| parent.relation.as_str()).unwrap_or_default()
}

/// The name of the relation from a child to its parent: that of the parent's entity.
pub(super) fn relation_to_parent(child: &EntityPlace) -> &str {
    child.parent.as_ref().map(|parent| parent.entity.as_str()).unwrap_or_default()
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

/// Returns what a path in the documents of a collection names.
pub(super) fn named<'l>(layout: &'l Layout, collection: &str, path: &str) -> Option<Named<'l>> {
    found(layout, collection, path).map(|(_, named)| named)
}

/// A path with `*` for what is below a field, where the keys of maps are.
pub(super) fn without_keys(layout: &Layout, collection: &str, path: &str) -> String {
    match found(layout, collection, path) {
        Some((known, Named::Field { below: true, .. })) => format!("{}.*", known.join(".")),
        _ => path.to_owned(),
    }
}

/// What a path names, and how the layout has it, without positions (`$`, `$[x]`, numbers) in arrays of records.
fn found<'l>(layout: &'l Layout, collection: &str, path: &str) -> Option<(Vec<&'l str>, Named<'l>)> {
    let known = known(layout, collection);
    let is_array = |path: &[&str]| known.iter().any(|(of, named)| of == path && matches!(named, Named::Array { .. }));
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('.') {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !(part.starts_with('$') || (is_number && is_array(&parts))) {
            parts.push(part);
        }
    }
    let fits = |(known, named): &(Vec<&'l str>, Named<'l>)| match named {
        Named::Field { .. } => parts.starts_with(known),
        _ => parts == *known,
    };
    let (known, mut named) = known.into_iter().filter(fits).max_by_key(|(known, _)| known.len())?;
    if let Named::Field { below, .. } = &mut named {
        *below = known.len() < parts.len();
    }
    Some((known, named))
}

/// All that a layout has of a collection, by path: what is most important last.
fn known<'l>(layout: &'l Layout, collection: &str) -> Vec<(Vec<&'l str>, Named<'l>)> {
    let mut known = Vec::new();
    for entity in layout.entities.iter().filter(|entity| entity.collection == collection) {
        let mut add = |path: &'l [String], named| {
            let all = entity.array.iter().flatten().chain(path).map(String::as_str);
            known.push((all.filter(|part| *part != ELEMENTS).collect(), named));
        };
        for field in entity.fields.iter().chain(&entity.copies).filter(|field| !field.path.is_empty()) {
            add(&field.path, Named::Field { entity, field, below: false });
        }
        for child in &layout.entities {
            let of = child.parent.as_ref().filter(|parent| parent.entity == entity.entity);
            if let Some(list) = of.and_then(|parent| parent.list.as_ref()) {
                add(list, Named::Children { child });
            }
        }
        if let Some(reference) = entity.parent.as_ref().and_then(|parent| parent.reference.as_ref()) {
            add(reference, Named::Parent { entity });
        }
        if entity.array.is_some() {
            add(&[], Named::Array { child: entity });
        }
    }
    known
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
