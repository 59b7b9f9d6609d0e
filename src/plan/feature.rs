//! The names that MongoDB knows in commands, and the release that brought each.
//!
//! They tell a misspelled name, a mistake of the scenario, from one that only an older server does not know. From the reference of
//! MongoDB's manual and its release notes, up to 8.2.

/// Where a name is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureKind {
    /// In a filter.
    Query,
    /// In an update that is no pipeline, modifiers of `$push` included.
    Update,
    /// In a pipeline.
    Stage,
    /// In an expression of a stage.
    Expression,
    /// In `$group`, `$bucket` and windows.
    Accumulator,
    /// A value in Extended JSON.
    Value,
    /// Of an index: a field of `createIndexes`.
    Index,
    /// Of a collection: a field of `create`.
    Collection,
    /// Of `collation`.
    Collation,
    /// Of a command, stage or operator: as the server names it when it does not know it. Words apart have to occur all.
    Option,
}

impl FeatureKind {
    /// Returns what diagnostics call such a name.
    pub fn word(self) -> &'static str {
        match self {
            FeatureKind::Query => "query operator",
            FeatureKind::Update => "update operator",
            FeatureKind::Stage => "stage",
            FeatureKind::Expression => "expression operator",
            FeatureKind::Accumulator => "accumulator",
            FeatureKind::Value => "type of value",
            FeatureKind::Index => "index option",
            FeatureKind::Collection => "collection option",
            FeatureKind::Collation => "collation option",
            FeatureKind::Option => "option",
        }
    }

    /// Whether its names are found among the operators and stages, which begin with `$`.
    fn is_operator(self) -> bool {
        use FeatureKind::*;
        !matches!(self, Index | Collection | Collation | Option)
    }

    /// Returns the names of this kind.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        FEATURES.iter().filter(move |row| row.0 == self).flat_map(|row| row.2.split_whitespace())
    }

    /// Whether a server of some release knows the name here. Operators may stand at places of other kinds, where the server
    /// decides.
    pub fn knows(self, name: &str) -> bool {
        let is_possible = |row: &&Row| row.0 == self || (self.is_operator() && row.0.is_operator());
        FEATURES.iter().filter(is_possible).any(|row| row.2.split_whitespace().any(|known| known == name))
    }
}

/// Returns the release that brought what the server's `message` names, if it is later than the server's own `version`.
pub fn later_release(message: &str, version: &str) -> Option<&'static str> {
    let is_part_of_name = |letter: char| letter.is_alphanumeric() || letter == '$' || letter == '.' || letter == '_';
    let words = message.split(|letter| !is_part_of_name(letter)).map(|word| word.trim_end_matches('.'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_named = |name: &str| name.split('+').all(|part| words.contains(&part));
    let later = FEATURES.iter().filter(|row| release(row.1) > release(version));
    let named = |row: &&Row| {
        row.2.split_whitespace().any(|name| (name.starts_with('$') || name.contains('.')) && is_named(name))
    };
    later.filter(named).map(|row| row.1).min_by_key(|since| release(since))
}

/// Returns the release that brought an option of this kind, if it is later than the server's `version`.
pub fn later_option(kind: FeatureKind, name: &str, version: &str) -> Option<&'static str> {
    let later = FEATURES.iter().filter(|row| row.0 == kind && release(row.1) > release(version));
    later.filter(|row| row.2.split_whitespace().any(|known| known == name)).map(|row| row.1).next()
}

/// The major and minor number of a version.
fn release(version: &str) -> (u32, u32) {
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Kinds of names, the release that introduced them (`5.0`: that one or an earlier one), and the names.
type Row = (FeatureKind, &'static str, &'static str);

const FEATURES: &[Row] = {
    use FeatureKind::*;
    &[
        (
            Query,
            "5.0",
            "$all $alwaysFalse $alwaysTrue $and $bitsAllClear $bitsAllSet $bitsAnyClear $bitsAnySet $box $center $centerSphere \
             $comment $elemMatch $eq $exists $expr $geoIntersects $geoWithin $geometry $gt $gte $in $jsonSchema $lt $lte \
             $maxDistance $minDistance $mod $natural $ne $near $nearSphere $nin $nor $not $options $or $polygon $regex $sampleRate \
             $size $text $search $language $caseSensitive $diacriticSensitive $type $uniqueDocs $where $within",
        ),
        (
            Update,
            "5.0",
            "$addToSet $bit $currentDate $each $inc $max $min $mul $pop $position $pull $pullAll $push $rename $set $setOnInsert \
             $slice $sort $unset",
        ),
        (
            Stage,
            "5.0",
            "$addFields $bucket $bucketAuto $changeStream $collStats $count $currentOp $facet $geoNear $graphLookup $group \
             $indexStats $limit $listLocalSessions $listSessions $lookup $match $merge $out $planCacheStats $project $redact \
             $replaceRoot $replaceWith $sample $search $searchMeta $set $setWindowFields $skip $sort $sortByCount $unionWith \
             $unset $unwind",
        ),
        (Stage, "5.1", "$densify $documents"),
        (Stage, "5.3", "$fill"),
        (Stage, "6.0", "$shardedDataDistribution $vectorSearch $changeStreamSplitLargeEvent"),
        (Stage, "7.0", "$listSampledQueries $listSearchIndexes"),
        (Stage, "8.0", "$querySettings $rankFusion"),
        (Stage, "8.1", "$listClusterCatalog"),
        (Stage, "8.2", "$score $scoreFusion"),
        (
            Expression,
            "5.0",
            "$abs $acos $acosh $add $allElementsTrue $and $anyElementTrue $arrayElemAt $arrayToObject $asin $asinh $atan $atan2 \
             $atanh $binarySize $bsonSize $ceil $cmp $concat $concatArrays $cond $convert $cos $cosh $dateAdd $dateDiff \
             $dateFromParts $dateFromString $dateSubtract $dateToParts $dateToString $dateTrunc $dayOfMonth $dayOfWeek $dayOfYear \
             $degreesToRadians $divide $eq $exp $filter $first $floor $function $getField $gt $gte $hour $ifNull $in \
             $indexOfArray $indexOfBytes $indexOfCP $isArray $isNumber $isoDayOfWeek $isoWeek $isoWeekYear $last $let $literal \
             $ln $log $log10 $lt $lte $ltrim $map $max $mergeObjects $meta $millisecond $min $minute $mod $month $multiply $ne \
             $not $objectToArray $or $pow $radiansToDegrees $rand $range $reduce $regexFind $regexFindAll $regexMatch \
             $replaceAll $replaceOne $reverseArray $round $rtrim $second $setDifference $setEquals $setField $setIntersection \
             $setIsSubset $setUnion $sin $sinh $size $slice $split $sqrt $strcasecmp $strLenBytes $strLenCP $substr $substrBytes \
             $substrCP $subtract $sum $switch $tan $tanh $toBool $toDate $toDecimal $toDouble $toHashedIndexKey $toInt $toLong \
             $toLower $toObjectId $toString $toUpper $trim $trunc $type $unsetField $week $year $zip",
        ),
        (Expression, "5.1", "$tsIncrement $tsSecond"),
        (Expression, "5.2", "$firstN $lastN $maxN $minN $sortArray"),
        (Expression, "6.3", "$bitAnd $bitNot $bitOr $bitXor"),
        (Expression, "7.0", "$median $percentile"),
        (Expression, "8.0", "$toUUID"),
        (Expression, "8.1", "$createObjectId $subtype $toArray $toObject"),
        (Expression, "8.2", "$minMaxScaler $sigmoid $similarityCosine $similarityDotProduct $similarityEuclidean"),
        (Expression, "8.3", "$deserializeEJSON $hash $hexHash $serializeEJSON"),
        (
            Accumulator,
            "5.0",
            "$accumulator $addToSet $avg $count $covariancePop $covarianceSamp $denseRank $derivative $documentNumber \
             $expMovingAvg $first $integral $last $max $mergeObjects $min $push $rank $shift $stdDevPop $stdDevSamp $sum",
        ),
        (Accumulator, "5.2", "$bottom $bottomN $firstN $lastN $locf $maxN $minN $top $topN"),
        (Accumulator, "5.3", "$linearFill"),
        (Accumulator, "7.0", "$median $percentile"),
        (Accumulator, "8.1", "$concatArrays $setUnion"),
        (
            Value,
            "5.0",
            "$binary $code $date $db $dbPointer $id $maxKey $minKey $numberDecimal $numberDouble $numberInt $numberLong $oid $ref \
             $regularExpression $scope $symbol $timestamp $undefined $uuid",
        ),
        (
            Index,
            "5.0",
            "2dsphereIndexVersion background bits clustered collation default_language expireAfterSeconds hidden key \
             language_override max min name partialFilterExpression sparse storageEngine textIndexVersion unique v weights \
             wildcardProjection",
        ),
        (Index, "6.0", "prepareUnique"),
        // A wildcard among other fields.
        (Index, "7.0", "key.$**"),
        (
            Collection,
            "5.0",
            "capped collation comment expireAfterSeconds indexOptionDefaults max size storageEngine timeseries validationAction \
             validationLevel validator writeConcern",
        ),
        (Collection, "5.3", "clusteredIndex"),
        (Collection, "6.0", "changeStreamPreAndPostImages encryptedFields"),
        (Collection, "6.3", "timeseries.bucketMaxSpanSeconds timeseries.bucketRoundingSeconds"),
        (
            Collation,
            "5.0",
            "alternate backwards caseFirst caseLevel locale maxVariable normalization numericOrdering strength version",
        ),
        (Option, "6.0", "$changeStream+showExpandedEvents"),
        (Option, "7.0", "$out+timeseries"),
        (Option, "8.0", "update.updates.sort bulkWrite.bulkWrite $convert+byteOrder $convert+format"),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_where_they_may_stand() {
        for (kind, name) in [
            (FeatureKind::Update, "$inc"),
            (FeatureKind::Stage, "$densify"),
            (FeatureKind::Expression, "$sum"),
            (FeatureKind::Query, "$oid"),
            (FeatureKind::Index, "unique"),
        ] {
            assert!(kind.knows(name), "{name}");
        }
        for (kind, name) in [
            (FeatureKind::Update, "$incr"),
            (FeatureKind::Stage, "$unwnd"),
            (FeatureKind::Index, "uniqe"),
            (FeatureKind::Index, "$inc"),
            (FeatureKind::Collection, "unique"),
            (FeatureKind::Option, "$match"),
        ] {
            assert!(!kind.knows(name), "{name}");
        }
    }

    #[test]
    fn a_name_in_a_message_has_its_release_if_the_server_is_older() {
        let stage = "Unrecognized pipeline stage name: '$densify'";
        let option = "BSON field 'update.updates.sort' is an unknown field.";
        let two = "$convert found an unknown argument: format";
        assert_eq!(
            [stage, option, two].map(|message| later_release(message, "5.0.9")),
            [Some("5.1"), Some("8.0"), Some("8.0")]
        );
        // A server that has it refuses it for another reason.
        assert_eq!(later_release(stage, "6.0.5"), None);
        assert_eq!(later_release(option, "8.0.4"), None);
        assert_eq!(later_release("$convert found an unknown argument: fromat", "6.0.5"), None);
        for message in ["Unknown modifier: $psh. Expected a valid update modifier", "unknown field: key"] {
            assert_eq!(later_release(message, "5.0.9"), None, "{message}");
        }
    }

    #[test]
    fn every_name_is_listed_once_per_kind() {
        for (place, row) in FEATURES.iter().enumerate() {
            for name in row.2.split_whitespace() {
                let others = FEATURES[place + 1..].iter().filter(|other| other.0 == row.0);
                let again = others.flat_map(|other| other.2.split_whitespace()).any(|other| other == name);
                assert!(!again && row.2.split_whitespace().filter(|other| *other == name).count() == 1, "{name}");
            }
        }
    }
}
