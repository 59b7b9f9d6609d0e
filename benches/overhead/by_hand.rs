//! A hand-written loop on the driver for the same calls: it draws with `rand`, builds commands with `doc!`, and drops the
//! replies.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Document, RawDocumentBuf, doc};
use docshape::plan::{Plan, Value};
use docshape::server::ReplyKind;
use futures_util::future::join_all;
use mongodb::Database;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Zipf};

use super::driver;
use super::recording::Calls;

const WORDS: [&str; 12] =
    ["river", "stone", "a", "bright", "under", "lantern", "of", "quiet", "harbour", "and", "seven", "garden"];

/// A loaded comment.
struct Comment {
    id: ObjectId,
    post: i32,
    created_on: Bson,
    name: String,
    text: String,
}

/// What calls are drawn from.
pub struct Draws {
    random: SmallRng,
    /// Id of the last inserted point.
    next: i32,
    points: i32,
    /// Authors of loaded points and comments.
    names: Vec<String>,
    posts: Zipf<f64>,
    /// Pages of each loaded post.
    pages: Vec<i32>,
    popular: Zipf<f64>,
    comments: Vec<Comment>,
}

/// Draws one call and builds its command.
pub type Make = fn(&mut Draws) -> Document;

/// Returns the function that draws the calls of a workload, if it has a hand-written loop.
pub fn make(workload: &str) -> Option<Make> {
    match workload {
        "read" => Some(read_point),
        "insert" => Some(insert_point),
        "blog" => Some(blog),
        _ => None,
    }
}

impl Draws {
    /// Reads the loaded data from the plan, which a hand-written loop would know.
    pub fn new(plan: &Plan) -> Draws {
        let (points, posts, comments) = (loaded(plan, "point"), loaded(plan, "post"), comments(plan));
        let names: BTreeSet<_> = points
            .iter()
            .map(|point| text(point, "name"))
            .chain(comments.iter().map(|comment| comment.name.clone()))
            .collect();
        let zipf = |n: usize| Zipf::new(n.max(1) as f64, 0.99).expect("a valid distribution");
        let mut sizes = vec![0; posts.len()];
        comments.iter().for_each(|comment| sizes[comment.post as usize] += 1);
        Draws {
            random: SmallRng::seed_from_u64(1),
            next: points.len() as i32,
            points: points.len() as i32,
            names: names.into_iter().collect(),
            posts: zipf(posts.len()),
            pages: sizes.into_iter().map(|size| 1 + size / 50).collect(),
            popular: zipf(comments.len()),
            comments,
        }
    }

    fn post(&mut self) -> i32 {
        self.posts.sample(&mut self.random) as i32 - 1
    }

    fn comment(&mut self) -> &Comment {
        &self.comments[self.popular.sample(&mut self.random) as usize - 1]
    }

    fn name(&mut self) -> String {
        self.names.choose(&mut self.random).expect("a name").clone()
    }

    fn text(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 10);
        while text.len() < bytes {
            text.push_str(WORDS.choose(&mut self.random).expect("a word"));
            text.push(' ');
        }
        text.truncate(bytes);
        text
    }
}

/// The documents of an entity; empty if the scenario has no such entity.
fn loaded(plan: &Plan, name: &str) -> Vec<Document> {
    let Some(entity) = entity(plan, name) else { return Vec::new() };
    (0..plan.data.len(entity)).map(|ordinal| document(plan, entity, ordinal)).collect()
}

fn entity(plan: &Plan, name: &str) -> Option<usize> {
    plan.data.entities.iter().position(|entity| *entity.name == *name)
}

fn document(plan: &Plan, entity: usize, ordinal: u64) -> Document {
    let Value::Record(record) = plan.data.whole(entity, ordinal) else { unreachable!("whole gives records") };
    Document::try_from(record.document().expect("a record").document()).expect("a valid document")
}

fn text(document: &Document, name: &str) -> String {
    document.get_str(name).expect("a text of the scenario").to_owned()
}

fn comments(plan: &Plan) -> Vec<Comment> {
    let (Some(post), Some(comment)) = (entity(plan, "post"), entity(plan, "comment")) else { return Vec::new() };
    let of = |number: u64| {
        plan.data.children_of(comment, number).map(move |ordinal| {
            let document = document(plan, comment, ordinal);
            Comment {
                id: document.get_object_id("_id").expect("an id of the scenario"),
                post: number as i32,
                created_on: document["created_on"].clone(),
                name: text(&document, "name"),
                text: text(&document, "comment"),
            }
        })
    };
    (0..plan.data.len(post)).flat_map(of).collect()
}

fn majority() -> Document {
    doc! { "w": "majority" }
}

fn local() -> Document {
    doc! { "level": "local" }
}

fn read_point(draws: &mut Draws) -> Document {
    let id = draws.random.random_range(0..draws.points);
    doc! { "find": "points", "filter": { "_id": id }, "limit": 1, "singleBatch": true, "readConcern": local() }
}

fn insert_point(draws: &mut Draws) -> Document {
    draws.next += 1;
    let point = doc! { "_id": draws.next, "name": draws.name(), "text": draws.text(120) };
    doc! { "insert": "points", "documents": [point], "writeConcern": majority() }
}

/// The default mix of blog-comments, strategy `embedded`.
fn blog(draws: &mut Draws) -> Document {
    match draws.random.random_range(0..100) {
        0..20 => add_comment(draws),
        20..30 => find_post(doc! { "_id": draws.post() }, None),
        30..60 => {
            let post = draws.post();
            let skip = draws.random.random_range(0..draws.pages[post as usize]) * 50;
            let page = doc! { "_id": 1, "comments": { "$slice": [skip, 50] } };
            find_post(doc! { "_id": post }, Some(page))
        }
        60..70 => page_after(draws.comment()),
        70..80 => find_post(doc! { "_id": draws.post() }, Some(doc! { "_id": 1, "comments": { "$slice": -10 } })),
        80..85 => {
            let number = doc! { "$project": { "_id": 0, "n": { "$size": "$comments" } } };
            aggregate(vec![doc! { "$match": { "_id": draws.post() } }, number])
        }
        85..90 => {
            let comment = draws.comment();
            let filter = doc! { "_id": comment.post, "comments._id": comment.id };
            find_post(filter, Some(doc! { "comments.$": 1, "_id": 0 }))
        }
        _ => edit(draws.comment()),
    }
}

fn find_post(filter: Document, projection: Option<Document>) -> Document {
    let mut command = doc! { "find": "posts", "filter": filter };
    if let Some(projection) = projection {
        command.insert("projection", projection);
    }
    command.extend(doc! { "limit": 1, "singleBatch": true, "readConcern": local() });
    command
}

fn aggregate(pipeline: Vec<Document>) -> Document {
    doc! { "aggregate": "posts", "pipeline": pipeline, "cursor": {}, "readConcern": local() }
}

fn update(query: Document, change: Document) -> Document {
    let update = doc! { "q": query, "u": change, "multi": false };
    doc! { "update": "posts", "updates": [update], "writeConcern": majority() }
}

fn add_comment(draws: &mut Draws) -> Document {
    let (name, text) = (draws.name(), draws.text(120));
    let comment =
        doc! { "_id": ObjectId::new(), "name": name, "created_on": DateTime::now(), "comment": text, "hidden": false };
    update(doc! { "_id": draws.post() }, doc! { "$push": { "comments": comment } })
}

fn edit(comment: &Comment) -> Document {
    let text = format!("edited: {}", &comment.text[8..]);
    update(doc! { "_id": comment.post, "comments._id": comment.id }, doc! { "$set": { "comments.$.comment": text } })
}

fn page_after(last: &Comment) -> Document {
    let date = || last.created_on.clone();
    let later = doc! { "comments.created_on": { "$gt": date() } };
    let after =
        doc! { "comments.created_on": { "$gte": date() }, "$or": [later, { "comments._id": { "$gt": last.id } }] };
    aggregate(vec![
        doc! { "$match": { "_id": last.post } },
        doc! { "$unwind": "$comments" },
        doc! { "$match": after },
        doc! { "$limit": 50 },
        doc! { "$replaceWith": "$comments" },
    ])
}

/// Makes as many calls as `calls` has, with concurrent clients.
pub async fn slice(database: &Database, calls: &Calls, clients: usize, make: Make, draws: &RefCell<Draws>) {
    let left = Cell::new(calls.len());
    let worker = async || {
        while left.get() > 0 {
            left.set(left.get() - 1);
            let command = make(&mut draws.borrow_mut());
            let kind = match command.keys().next().map(String::as_str) {
                Some("find" | "aggregate") => ReplyKind::Cursor,
                _ => ReplyKind::Counts,
            };
            // The driver's first step with any document.
            let bytes = RawDocumentBuf::try_from(&command).expect("a valid command");
            driver::send(database, bytes, kind).await;
        }
    };
    join_all((0..clients).map(|_| worker())).await;
}

/// The shape of a command, which is equal in every call: field names, types of values, and elements of lists.
pub fn shape(value: &Bson) -> String {
    match value {
        Bson::Document(document) => {
            let fields: Vec<_> = document.iter().map(|(name, value)| format!("{name}: {}", shape(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        Bson::Array(values) => format!("[{}]", values.iter().map(shape).collect::<Vec<_>>().join(", ")),
        other => format!("{:?}", other.element_type()),
    }
}
