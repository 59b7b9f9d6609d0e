//! The words of generated text.

/// Common words; at most 256, so that a byte chooses one.
#[rustfmt::skip]
pub const WORDS: &[&str] = &[
    "able", "about", "above", "across", "action", "actual", "after", "again", "against", "almost", "alone", "along",
    "already", "always", "amount", "animal", "answer", "appear", "around", "arrive", "autumn", "basket", "battle",
    "beauty", "become", "before", "behind", "believe", "below", "beside", "better", "beyond", "border", "bottle",
    "bottom", "branch", "breath", "bridge", "bright", "bring", "brother", "bucket", "build", "butter", "camera",
    "candle", "carbon", "careful", "carry", "castle", "cause", "center", "chance", "change", "choose", "circle",
    "clear", "clever", "climate", "close", "cloud", "coffee", "color", "column", "common", "copper", "corner",
    "cotton", "count", "country", "couple", "course", "cover", "create", "cross", "danger", "dark", "decide",
    "deep", "degree", "desert", "detail", "dinner", "direct", "doctor", "double", "dream", "drive", "early",
    "earth", "east", "effect", "engine", "enough", "evening", "every", "example", "expect", "fabric", "family",
    "famous", "farmer", "father", "field", "figure", "finger", "finish", "flower", "follow", "forest", "forget",
    "free", "friend", "garden", "gather", "gentle", "glass", "golden", "grand", "green", "ground", "happen",
    "harbor", "heart", "heavy", "history", "honest", "horse", "house", "hunger", "indeed", "inside", "island",
    "journey", "kitchen", "knowledge", "ladder", "large", "later", "letter", "level", "light", "listen", "little",
    "lonely", "market", "matter", "meadow", "measure", "memory", "middle", "minute", "modern", "moment", "morning",
    "mother", "mountain", "narrow", "nature", "never", "north", "notice", "number", "object", "ocean", "office",
    "often", "orange", "other", "paper", "parent", "pencil", "people", "perfect", "picture", "planet", "pocket",
    "point", "polite", "power", "pretty", "process", "quick", "quiet", "rather", "reason", "record", "remember",
    "repeat", "result", "river", "round", "sample", "season", "second", "secret", "several", "shadow", "silver",
    "simple", "single", "sister", "slow", "smooth", "social", "south", "spring", "station", "steady", "story",
    "street", "strong", "summer", "sudden", "supper", "surface", "table", "thing", "thought", "through", "thunder",
    "together", "tomorrow", "travel", "trouble", "turn", "under", "until", "upper", "valley", "village", "visit",
    "water", "weather", "welcome", "west", "whole", "window", "winter", "wisdom", "without", "wonder", "world",
    "write", "yellow", "young",
];

/// First names.
#[rustfmt::skip]
pub const FIRST_NAMES: &[&str] = &[
    "Ada", "Alan", "Alice", "Amara", "Anna", "Anton", "Barbara", "Ben", "Carla", "Carlos", "Chen", "Clara",
    "Daniel", "Diana", "Edith", "Elena", "Emil", "Emma", "Erik", "Eva", "Farah", "Felix", "Fiona", "Frank", "Grace",
    "Hana", "Hugo", "Ida", "Igor", "Ines", "Ivan", "Jana", "Jonas", "Julia", "Kai", "Karim", "Lara", "Lea", "Leon",
    "Lina", "Lucas", "Maria", "Marta", "Max", "Mia", "Milan", "Nadia", "Nina", "Noah", "Nora", "Olga", "Omar",
    "Oscar", "Paula", "Pedro", "Rosa", "Samir", "Sara", "Sofia", "Theo", "Uma", "Victor", "Vera", "Yusuf", "Zoe",
];

/// Last names.
#[rustfmt::skip]
pub const LAST_NAMES: &[&str] = &[
    "Adler", "Ahmed", "Almeida", "Andersen", "Bauer", "Becker", "Bennett", "Berg", "Bianchi", "Blanc", "Brown",
    "Carter", "Castro", "Chan", "Clark", "Costa", "Cruz", "Dahl", "Diaz", "Dubois", "Eriksen", "Evans", "Fischer",
    "Flores", "Fontaine", "Foster", "Garcia", "Gomez", "Green", "Gupta", "Haas", "Hansen", "Harris", "Hayes",
    "Hoffman", "Hughes", "Ibrahim", "Ito", "Ivanov", "Jansen", "Jensen", "Jones", "Kaiser", "Kaplan", "Keller",
    "Khan", "Kim", "Klein", "Kovac", "Kumar", "Lang", "Larsen", "Lee", "Lehmann", "Lewis", "Lopez", "Martin",
    "Meyer", "Mills", "Moreau", "Moreno", "Morris", "Nagy", "Nielsen", "Novak", "Okafor", "Olsen", "Ortiz", "Park",
    "Patel", "Perez", "Petrov", "Popov", "Quinn", "Ramos", "Reed", "Reyes", "Ricci", "Rivera", "Rossi", "Russo",
    "Santos", "Sato", "Schmidt", "Silva", "Singh", "Smith", "Sousa", "Stone", "Suzuki", "Tanaka", "Taylor",
    "Turner", "Vargas", "Vogel", "Walker", "Wang", "Weber", "White", "Wright", "Yamada", "Yilmaz", "Zhang", "Zimmer",
];

/// Cities.
#[rustfmt::skip]
pub const CITIES: &[&str] = &[
    "Accra", "Amsterdam", "Ankara", "Athens", "Auckland", "Bangkok", "Barcelona", "Beirut", "Bergen", "Berlin",
    "Bogota", "Boston", "Brussels", "Budapest", "Cairo", "Chicago", "Copenhagen", "Dakar", "Delhi", "Denver",
    "Dublin", "Geneva", "Hamburg", "Hanoi", "Helsinki", "Istanbul", "Jakarta", "Kyoto", "Lagos", "Leipzig", "Lima",
    "Lisbon", "London", "Lyon", "Madrid", "Manila", "Melbourne", "Milan", "Montreal", "Munich", "Nairobi", "Naples",
    "Osaka", "Oslo", "Paris", "Porto", "Prague", "Quito", "Riga", "Rome", "Santiago", "Seattle", "Seoul", "Sofia",
    "Sydney", "Tallinn", "Toronto", "Tunis", "Vienna", "Warsaw", "Zagreb", "Zurich",
];
