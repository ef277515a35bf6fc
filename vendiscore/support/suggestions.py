"""Suggest a valid name or call in the message about an unknown name.

One rule is used for names of every kind (`suggest_name`):

1. A synonym of an accepted name, from the table SYNONYMS: suggest that name.
2. A name that is not an accepted one, but occurs in the table ELSEWHERE: show the sentence from
   this table, which says what to use instead.
3. A name that is accepted elsewhere, such as a flag of another command: show where.
4. An abbreviation or misspelling of an accepted name or of its synonyms: suggest that name.
5. A name of another kind, such as a measure passed as a kernel: show how to pass it.
6. Otherwise: list accepted names that are similar, each with its description, if there are any.

Rules 1 to 3 also apply to the name without a word such as "max" or "path" at its beginning or end
(`max_samples`, `output_path`). A name is suggested only if it accepts the value that was passed.
"""

import difflib
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from types import MappingProxyType, ModuleType
from typing import Literal, NoReturn

NameKind = Literal[
    "attribute",
    "command",
    "flag",
    "function",
    "kernel",
    "keyword",
    "measure",
    "metric",
    "objective",
]
# Minimum `difflib` ratio of a misspelling; 0.65 would suggest "--split" for "--plot".
MIN_SPELLING_SIMILARITY = 0.8
# Minimum length of an abbreviation such as "ngram" for "ngram_overlap".
MIN_PREFIX_LENGTH = 4
# Minimum `difflib` ratio of names that are listed as similar and share no word with the name.
MIN_LISTED_SIMILARITY = 0.65
# First and last words of names that do not change their meaning.
_OPTIONAL_FIRST_WORDS = {"compute", "do", "enable", "get", "input", "my", "print", "return"}
_OPTIONAL_FIRST_WORDS |= {"set", "show", "target", "use", "with"}
_OPTIONAL_LAST_WORDS = {"col", "column", "count", "dir", "directory", "field", "file", "filename"}
_OPTIONAL_LAST_WORDS |= {"flag", "fn", "folder", "func", "function", "list", "method", "n", "name"}
_OPTIONAL_LAST_WORDS |= {"num", "option", "param", "path", "size", "str", "string", "type"}
_OPTIONAL_LAST_WORDS |= {"value", "values"}
_COUNT_WORDS = {"max", "min", "n", "num", "number", "total"}
# Names that are listed with their descriptions if there is no better suggestion.
MAX_CANDIDATES = 3
# Longer lists of names are not shown.
MAX_LISTED_NAMES = 12
MAX_DESCRIPTION_LENGTH = 100
# Default of `value`: the name was used without a value.
NO_VALUE = object()

# For each kind of name: accepted names, each with its synonyms in other libraries, in the form of
# `normalize_name`. All accepted targets of a synonym are suggested, except those that do not accept
# the value that was passed.
SYNONYMS: dict[NameKind, dict[str, str]] = {
    "keyword": {
        "k": "kernel kernelname kernelfn kernelfunction similarity sim similarityfn simfn affinity "
        "similarityfunction similaritymetric similaritymeasure pairwise",
        "metric": "distance distancemetric distancefn distancefunction dist distmetric",
        "p": "weights weight probs probabilities sampleweight sampleweights proportions",
        "q": "order orders alpha renyiorder hillorder hillorders orderq qs",
        "ci": "confidence confidencelevel confidenceinterval interval intervals cilevel level "
        "conf conflevel alpha significance significancelevel",
        "level": "confidence confidencelevel confidenceinterval cilevel ci conf conflevel alpha "
        "significance significancelevel",
        "within": "margin equivalencemargin equivalence tost rope",
        "allow_repeats": "repeats norepeats recurrence continuous",
        "size": "n top topk k num count nsamples numsamples budget nselect numselect subsetsize "
        "samplesize nitems npoints m imagesize resize",
        "sizes": "trainsizes samplesizes subsamplesizes steps knots nvalues",
        "ns": "n ngram maxngram maxn ngrams ngramrange ngramsize ngramsizes ngramorder",
        "seed": "randomstate randomseed rng generator setseed",
        "samples": "texts text sentences generations images molecules smiles inputs input x data "
        "prediction predictions preds hypotheses candidates outputs completions responses corpus "
        "documents docs points answers",
        "batch": "samples sample data x inputs input texts text predictions features images",
        "references": "reference refs ref targets target real realsamples referencesamples y",
        "groups": "group groupby grouplabels grouping strata labels stratify",
        "by": "models sets setlabels modellabels source systems groupby labels",
        "clusters": "cluster clusterlabels clusterids blocks",
        "names": "setnames modelnames labels",
        "counts": "abundances abundance community comm otutable otus",
        "prompts": "prompt questions question contexts queries",
        "given_prompt": "conditional conditiononprompt conditionprompts",
        "measures": "measure metrics metricnames",
        "threshold": "cutoff thresh minsimilarity similaritythreshold",
        "normalize": "normalise normalized normalised",
        "sigma": "bandwidth lengthscale kernelwidth",
        "t": "scale ts scales",
        "scales": "scale ts t",
        "n_scales": "nts numscales ntimes",
        "permutations": "npermutations numpermutations nperm nresamples resamples niter",
        "model": "encoder embedder embed encode embeddingfunction featureextractor feature",
        "model_path": "modelname modelid modelnameorpath checkpoint pretrained embeddingmodel "
        "model",
        "neighbours": "nneighbors kneighbors nearestk neighbors knn nneighbours",
        "n_bits": "fpsize",
        "radius": "fpradius morganradius",
        "chirality": "usechirality includechirality",
        "quality": "scores reward rewards utility",
        "tradeoff": "lambda lam lambdamult diversityweight",
        "objective": "method criterion algorithm strategy",
        "initial": "init start preselected anchors firstpicks",
        "quota": "quotas pergroup maxpergroup",
        "tokenizer": "tokenise tokenize tokeniser",
        "tokenize": "tokenizer tokenise tokeniser",
        "lowercase": "lower dolowercase",
        "max_order": "maxngramorder",
        "smooth": "smoothmethod smoothing",
        "batch_size": "bs batch",
        "details": "returndetails fulloutput returnfull",
        "on_error": "errors onerrors errorhandling handleerrors dropna skipna nanpolicy skiperrors "
        "ignoreerrors dropinvalid",
        "method": "estimator approximate approximation",
    },
    "flag": {
        "kernel": "k model encoder embedding embedder similarity embeddingmodel metric sim "
        "affinity fingerprint fp encoding simfn",
        "order": "q qs orders alpha",
        "measures": "m measure metrics metric",
        "size": "top topk num count n k nsamples numsamples budget limit samplesize head m nselect",
        "by": "models sets source model sourcecolumn modelcolumn label labels system systems",
        "group-by": "groups group per groupcolumn label labels stratify strata partition cluster",
        "column": "text field textcolumn textfield answercolumn samplecolumn smiles answer "
        "response completion prediction smilescolumn textkey key col",
        "prompt": "promptcolumn question questions context instruction",
        "references": "reference ref refs target targets real groundtruth gold background train",
        "ci": "confidence confidencelevel confidenceinterval interval intervals alpha level",
        "level": "confidence confidencelevel confidenceinterval ci alpha significance conf",
        "seed": "randomstate randomseed rng",
        "permutations": "npermutations numpermutations nperm nresamples resamples trials "
        "iterations",
        "threshold": "cutoff thresh minsimilarity similarity similaritythreshold eps epsilon tol",
        "matrix": "precomputed similarities similaritymatrix kernelmatrix gram",
        "format": "outputformat fmt to",
        "output": "out outfile outputfile save saveto",
        "on-error": "errors onerrors",
        "type": "inputtype inputformat filetype from",
        "split": "lineseparator textseparator",
        "option": "options set param params kernelargs",
        "signature": "cite",
        "quiet": "silent nonotes nowarnings",
        "verbose": "debug verbosity",
        "brief": "short scoreonly valueonly raw",
        "sizes": "steps samplesizes trainsizes",
        "counts": "abundance abundances community",
        "encoding": "charset codec inputencoding",
        "skip-rows": "skip skiplines",
        "no-header": "noheaders headerless noheaderrow",
        "plot": "figure fig savefig",
        "pool": "ignoregroups nogroups",
        "help": "usage h",
        "objective": "strategy method criterion algorithm",
    },
    "command": {
        "score": "compute diversity evaluate run vendi vendiscore eval measure metric stat stats "
        "calculate calc scoring count",
        "compare": "test permutationtest significance diff ab rank leaderboard",
        "table": "latex summary summarize tabulate",
        "sources": "source",
        "select": "choose sample subset subsample pick coreset diversify",
        "dedup": "dedupe deduplicate duplicates nearduplicates repeats unique uniq",
        "explain": "contributions outliers attribution inspect analyze analyse",
        "growth": "rarefaction rarefy curve accumulation extrapolate inext saturation",
        "report": "html dashboard",
        "kernels": "kernel similarities embeddings listkernels",
        "measures": "metrics listmeasures listmetrics",
        "model": "models embeddingmodel",
        "page": "app serve web gui ui demo webapp server gradio",
        "completion": "completions autocomplete",
    },
    "kernel": {
        "ngram_overlap": "ngrams text texts string strings words bagofwords tfidf bow wordngrams",
        "text_embeddings": "sbert sentencebert sentenceembeddings sentencetransformers "
        "sentencetransformer bert simcse",
        "static": "wordllama model2vec potion glove word2vec fasttext wordvectors staticvectors",
        "equivalence": "nli entailment semanticequivalence noveltybench",
        "image_embeddings": "inception inceptionv3 imagenet",
        "pixels": "image images photos pictures",
        "morgan": "ecfp ecfp4 smiles molecule molecules fingerprint fingerprints morganfingerprint",
        "maccs": "maccskeys",
        "rdkit": "rdk rdkfingerprint rdkitfingerprint",
        "tanimoto": "jaccard tanimotosimilarity bits bitvectors bitvect binary",
        "bleu": "sentencebleu sacrebleu",
        "cosine": "cosinesimilarity cossim cos angular",
        "rbf": "gaussian squaredexponential se rbfkernel gaussiankernel",
        "laplacian": "laplace exponential laplaciankernel",
        "linear": "dot dotproduct inner innerproduct linearkernel",
        "labels": "classes categories category categorical identity equality exact "
        "exactmatch delta",
        "tags": "multilabel labelsets sets",
        "word_overlap": "jaccard wordjaccard tokenoverlap",
        "probability_product": "bhattacharyya probabilities probs hellinger",
    },
    "metric": {
        "euclidean": "l2 euclid",
        "manhattan": "l1 taxicab",
        "cosine": "cosinedistance angular",
        "1-k": "tanimoto tanimotodistance",
        "precomputed": "matrix distancematrix",
        "chebyshev": "linf max",
    },
    "measure": {
        "VS": "vendi vendiscore diversity hill hillnumber",
        "IntDiv": "internaldiversity intdivk intdiv1 intdivp meandissimilarity raoq rao "
        "quadraticentropy pairwisedistance meanpairwisedistance",
        "AvgSim": "averagesimilarity meansimilarity pairwisesimilarity meanpairwisesimilarity",
        "NgramDiversity": "distinct distinctn distinctngrams typetokenratio ttr",
        "SelfBLEU": "selfbleu4",
        "CompressionRatio": "compression gzip",
        "LC": "leinstercobbold similaritysensitivediversity",
        "BetweenVS": "beta betadiversity",
        "TotalVS": "gamma gammadiversity",
        "WithinVS": "alpha alphadiversity",
        "KernelLanguageEntropy": "kle vonneumann vonneumannentropy",
        "SemanticEntropy": "semanticuncertainty",
        "DistinctK": "distinctclasses numclasses nclusters numclusters",
        "UtilityK": "utility",
        "SampleCoverage": "goodturing goodscoverage goodsturing completeness",
        "RKE": "renyi renyikernelentropy",
        "MMD": "maximummeandiscrepancy",
        "KID": "kernelinceptiondistance",
        "Magnitude": "mag",
        "MagArea": "magnitudearea",
        "MagDiff": "magnitudedifference",
        "Spread": "magnitudespread",
        "Precision": "improvedprecision",
        "Recall": "improvedrecall",
        "Density": "",
        "Coverage": "",
        "qVS": "qualityvendi qualityweightedvendi qualityweightedvendiscore",
        "GMStds": "geometricmeanstd",
        "generative": "prdc precisionrecall",
    },
    "objective": {
        "vendi": "diversity diverse vs vendiscore maxdiversity",
        "represent": "facilitylocation coverage representative representativeness coreset",
    },
    "function": {
        "list_kernels": "availablekernels kernelnames showkernels allkernels",
        "list_measures": "availablemeasures listmetrics availablemetrics measurenames allmeasures",
        "growth": "rarefaction accumulation specaccum inext rarefy rarecurve learningcurve "
        "extrapolation saturation",
        "encoder": "embed encode embedding embeddings loadmodel loadencoder sentencetransformer "
        "getencoder model",
        "compare": "permutationtest significance ttest abtest pairedtest significancetest",
        "effective_number": "hill hillnumber hillnumbers renyi entropy shannon simpson "
        "shannonentropy hilldiversity inversesimpson",
        "spectrum": "eigenvalues eigvals eigenspectrum",
        "group_rewards": "reward rewards rewardfunction rewardfn diversityreward groupreward",
        "as_similarity": "getsimilarity",
        "explain": "contributions outliers contribution attribution leaveoneout",
        "select": "subset choose sample diversesubset selectdiverse subsample coreset mmr kcenter "
        "facilitylocation dpp selectsubset diversify picker maxminpicker",
        "sources": "comparemodels modelsimilarity effectivemodels",
        "score_batches": "stream scorestream streaming batches",
        "State": "streamingscore accumulator partialfit online update",
        "report": "html htmlreport summary dashboard",
        "conditional_score": "conditional conditionalvendi conditionalvendiscore",
        "register_kernel": "addkernel customkernel",
        "register_measure": "addmeasure custommeasure registermetric",
        "mag_area": "magnitudearea",
        "novelty": "ken noveltyscore",
    },
    "attribute": {
        "p": "pvalue pval pvalues",
        "score": "value estimate statistic result vs vendi vendiscore mean effectivenumber",
        "scores": "values mean means curve",
        "value": "estimate score mean",
        "difference": "diff effect effectsize delta meandifference statistic",
        "low": "lower cilow lowerbound lo ci confidenceinterval interval confint",
        "high": "upper cihigh upperbound hi ci confidenceinterval interval confint",
        "se": "error stderr stderror standarderror std",
        "level": "confidence confidencelevel",
        "n": "size count nsamples samplesize nsamplesseen",
        "VS": "score value result vendi vendiscore mean effectivenumber",
        "similarity": "matrix similaritymatrix pairwisesimilarity pairwisesimilarities distances "
        "pairwisedistances distancematrix",
        "values": "scores score novelty noveltyscores noveltyscore",
        "sizes": "x ns samplesizes",
        "places": "indices index idx selected selection selectedindices sampleindices keep "
        "featuresin support getsupport",
        "adds": "contribution contributions importance importances leaveoneout attributions "
        "featureimportances outliers",
        "groups": "clusters duplicates nearduplicates duplicategroups labels",
        "kept": "deduplicated unique keep",
        "nearest": "neighbors neighbours nearestneighbours nearestneighbors mostsimilar",
        "verdict": "significant issignificant reject conclusion winner better best",
        "sentence": "summary text describe description report",
        "to_frame": "todf topandas todataframe dataframe df table frame",
        "to_dict": "asdict dict json tojson todictionary items",
        "plot": "show draw figure plots",
        "gains": "marginalgains",
        "dense": "matrix k toarray numpy todense gram",
        "names": "models modelnames labels",
        "sets": "results",
        "pairs": "comparisons tests",
        "compute": "score vs value result get vendiscore evaluate",
        "merge": "add combine reducestate",
        "update": "add append fit partialfit push extend",
    },
}

# For each kind of name: words without an accepted synonym, and a sentence about the alternative.
# Sentences of keywords also serve for flags: `vendiscore.tools.cli.parser` converts their keywords.
ELSEWHERE: dict[NameKind, dict[str, str]] = {
    "keyword": {
        "precomputed similaritymatrix kernelmatrix matrix gram grammatrix": (
            "A similarity matrix is passed as the samples, with score_K=True."
        ),
        "distancematrix dists distances scored": (
            "A distance matrix D is passed as the samples of a distance-based measure: "
            "compute(D, metric='precomputed', measures='MagArea'). For the Vendi Score, convert it "
            "to similarities: compute(np.exp(-D), score_K=True)."
        ),
        "psd": "Use compute(K, score_K=True, psd='clip')[\"VS\"].",
        "dedup deduplicate dropduplicates unique": (
            "explain(samples).kept holds the indices of the samples without near-duplicates."
        ),
        "column columns columnname textcolumn field textfield": (
            "Pass the column as the samples, for example df['text']."
        ),
        "w": "Scale the columns instead: metric='euclidean' of X * sqrt(w).",
        "v variance": "Scale the columns instead: metric='euclidean' of X / sqrt(V).",
        "vi": "Transform the rows instead: metric='euclidean' of X @ cholesky(VI).",
        "gamma": ("Pass sigma=1/sqrt(2·gamma) with k='rbf', or sigma=1/gamma with k='laplacian'."),
        "seed randomstate randomseed rng setseed": (
            "This call uses no random numbers; remove this argument. "
            "compute(samples, method='estimate') is random and accepts `seed`."
        ),
        "device cuda gpu usegpu": (
            "Arrays and tensors are scored on their own device; remove this argument. Only kernels "
            "that load a model, such as k='text_embeddings', have a device."
        ),
        "verbose progress progressbar tqdm disableprogressbar showprogress": (
            "A progress bar is shown automatically if a call takes more than two seconds; remove "
            "this argument."
        ),
        "njobs numworkers workers numthreads nthreads nproc numproc": (
            "Linear algebra uses all cores automatically; remove this argument. The environment "
            "variable OMP_NUM_THREADS limits their number."
        ),
        "precision dtype float32 half": (
            "Scores are computed in double precision; remove this argument. With k='cosine', many "
            "float32 rows are multiplied in single precision."
        ),
        "bootstrap nbootstrap nboot nbootstraps bootstrapsamples nresamples": (
            "Intervals do not use the bootstrap. Use compute(samples, ci=0.95)."
        ),
        "embeddings embedding features": ("Pass embeddings as the samples, with k='cosine'."),
        "embed embedder encode encoder embeddingfunction featureextractor feature": (
            "Pass k='text_embeddings' or k='image_embeddings' with model=encoder, a function or an "
            "object that has encode."
        ),
        "standardize standardise scaler zscore scaling": (
            "Standardize the columns first: (X - X.mean(0)) / X.std(0)."
        ),
        "test paired testtype": (
            "compare uses a permutation test; remove this argument. The test is paired if `groups` "
            "or `prompts` is passed: sets are then compared within groups or prompts."
        ),
        "alternative onesided twosided tail": (
            "The test of compare is two-sided; remove this argument. The sign of the difference "
            "shows the direction."
        ),
        "correction pvaluecorrection padjust adjust multipletests": (
            "compare adjusts p-values for several pairs automatically; remove this argument."
        ),
        "n top topk topn num count nsamples numsamples budget head limit maxsamples": (
            "To choose a subset, use select(samples, size=5). "
            "explain(samples).to_frame().nlargest(5, 'adds') lists the samples that contribute "
            "most."
        ),
        "measures measure metrics": (
            "Use compute(samples, measures='IntDiv', ci=0.95) for other measures with intervals."
        ),
        "counts abundances abundance": (
            "compute(counts=…) scores counts of species. Other functions need the species of each "
            "individual, for example np.repeat(species, counts), with k='labels'."
        ),
        "usecounts countfingerprint countfingerprints countbased usecountsimulation counted": (
            "Molecular kernels use binary fingerprints. Compare count fingerprints with a function "
            "of two arrays: k=lambda a, b: np.minimum(a, b).sum() / np.maximum(a, b).sum()."
        ),
        "by": (
            "compare(samples, by=labels) compares sets; compute(samples, groups=labels) scores "
            "each group separately."
        ),
        "groups groupby group": ("compute(samples, groups=labels) scores each group separately."),
        "clusters": (
            "compute(samples, clusters=labels, ci=0.95) has intervals for clustered samples. For "
            "other functions, pass one sample per cluster."
        ),
        "ci confidence confidencelevel confidenceinterval": (
            "Use compute(samples, ci=0.95) for a confidence interval."
        ),
        "returnpergroup pergroup perprompt returnall returnindividual reduction average aggregate "
        "reduce returnlist persample": (
            "compute(samples, groups=labels, details=True)['details']['groups'] has the score of "
            "each group, and explain(samples).adds the contribution of each sample."
        ),
        "numgenerations ngenerations groupsize numreturnsequences samplesperprompt k": (
            "Pass the label of the group of each sample as `groups`, for example "
            "compute(samples, groups=labels), or pass a list of lists."
        ),
        "lowercase lower dolowercase casesensitive ignorecase stopwords stemmer stem preprocess "
        "preprocessor removepunctuation": (
            "Texts are not preprocessed; pass processed texts, for example "
            "[text.lower() for text in samples] to ignore case."
        ),
        "maxfeatures vocabulary mindf maxdf": "All n-grams are used; remove this argument.",
        "lang language": "Kernels do not depend on the language; remove this argument.",
        "indices returnindices": "select(samples, size=5).places holds the selected indices.",
        "plot show savefig figure ax": (
            "Results have a method plot, for example growth(samples).plot()."
        ),
        "output outputfile outputdir savepath save": (
            "Results are returned, not written; their method to_frame converts them to a table."
        ),
        "cache cachedir usecache": (
            "Only k='text_embeddings' caches embeddings on disk; remove this argument."
        ),
        "pbar leave ncols": "Remove this argument; a progress bar is shown automatically.",
        "averagemethod zerodivision returntype": "Remove this argument; it has no equivalent.",
    },
    "flag": {
        "weights weight": (
            "Weights are passed in Python: compute(samples, p=weights). For counts per row, pass "
            "--counts."
        ),
        "width digits decimals round ndigits": (
            "Tables have four significant digits; -f csv and -f json have all."
        ),
        "quota perquota maxpergroup": (
            "Quotas are passed in Python: select(samples, size, groups=labels, quota=2)."
        ),
        "within margin equivalence tost": (
            "An equivalence margin is passed in Python: compare(a, b, within=0.05)."
        ),
        "space": "The commands that upload a Space are in docs/tasks/page_api.md.",
        "output out outfile outputfile outputdir outdir save saveto dest destination": (
            "Results are written to standard output; add `> FILE` to the end of the command."
        ),
        "input infile inputfile files file path data dataset": (
            "Files are passed without a flag: `vendiscore FILE`."
        ),
        "pvalue pvalues paired pairedbs pairedar test testtype alternative significance ttest "
        "pairedtest onesided twosided": (
            "`vendiscore compare` prints a p-value for each pair of sets. Its permutation test is "
            "two-sided, and --prompt compares sets within prompts."
        ),
        "skipinvalid ignoreerrors skiperrors dropinvalid skipbad keepgoing ignore dropna": (
            "Pass --on-error skip to drop unusable samples."
        ),
        "failfast strict": "Pass --on-error raise, which is the default.",
        "delimiter delim sep separator comma tab fieldseparator quotechar": (
            "The delimiter of csv and tsv files is detected; --type csv or --type tsv sets the "
            "format, and --split the separator of texts."
        ),
        "shuffle sample nsamples numsamples maxsamples maxn limit head tail subset subsample frac "
        "n count nrows maxrows firstn": (
            "All samples of a file are used. Limit the input, for example "
            "`head -n 100 FILE | vendiscore -`."
        ),
        "top topk num topn": (
            "`vendiscore explain FILE -n 5` limits its tables; `vendiscore select FILE -n 5` "
            "chooses samples."
        ),
        "seed randomstate randomseed rng": (
            "This command uses no random numbers; remove this argument."
        ),
        "device cuda gpu cpu batchsize bs": (
            "Kernels that load a model have this option: pass it after the name of the kernel, as "
            "in -k text_embeddings:device=cpu:batch_size=8."
        ),
        "verbose progress progressbar noprogress": (
            "A progress bar is shown automatically if a command takes more than two seconds."
        ),
        "precomputed matrix similaritymatrix kernelmatrix": (
            "Commands with --matrix read a file of similarities, for example "
            "`vendiscore K.csv --matrix`."
        ),
        "distancematrix distances precomputeddistances": (
            "Pass -o metric=precomputed -m MagArea for a distance matrix."
        ),
        "embeddings features vectors": (
            "Vectors are read from .npy, .npz and .csv files; -k cosine compares them."
        ),
        "lowercase lower dolowercase lc casesensitive ignorecase stopwords removestopwords stemmer "
        "stem lemmatize preprocess removepunctuation normalizetext nopunct strip": (
            "Texts are compared as they are in the file. Edit the file first, for example "
            "`tr A-Z a-z < FILE | vendiscore -`."
        ),
        "tokenize tok tokenizer tokeniser tokenization": (
            "-o tokenizer=13a splits texts as sacrebleu does, and -o analyzer=char compares "
            "characters."
        ),
        "char chars character characters charngrams charlevel bychar characterlevel": (
            "-o analyzer=char compares n-grams of characters."
        ),
        "unigram unigrams bigram bigrams trigram trigrams": (
            "-o ns=2 compares bigrams; the default -o ns=1,2,3,4 compares four lengths."
        ),
        "columns cols fields usecols select": (
            "Only one column contains the samples: pass --column NAME. --by and --prompt name the "
            "columns of sets and prompts."
        ),
        "filter where query grep include exclude rows": (
            "Rows are not filtered; filter the file first. --by COLUMN reports each set of a table "
            "separately."
        ),
        "sort sortby orderby rank reverse descending": (
            "Results are listed in the order of the input; sort the output of -f csv instead."
        ),
        "i": "Files are passed without a flag; to ignore case, lowercase the file first.",
        "gamma": (
            "The option of -k rbf is sigma = 1/sqrt(2 gamma); for gamma 0.5, pass -k rbf:sigma=1."
        ),
        "average reduction aggregate reduce pergroup perprompt persample": (
            "Groups have equal weight in the mean. --worst 3 lists the groups with the lowest "
            "score, and `vendiscore explain FILE` the contribution of each sample."
        ),
        "logsamples details contributions": (
            "`vendiscore explain FILE -f csv` has one row per sample."
        ),
        "standardize standardise scale scaling zscore center": (
            "Columns are not rescaled; rescale them in the file first. -k cosine ignores the "
            "lengths of rows."
        ),
        "distance distancemetric dist distmetric": (
            "-k rbf compares vectors by Euclidean distance and -k laplacian by Manhattan distance. "
            "For distance-based measures, pass -o metric=euclidean -m MagArea."
        ),
        "effectsize effect cohend": (
            "`vendiscore compare` prints the difference of each pair of sets with its interval, "
            "and no standardized effect size."
        ),
        "baseline control": "`vendiscore compare` tests all pairs of sets; it has no baseline.",
        "bootstrap nbootstrap nboot nbootstraps bootstrapsamples confidencen bootstraps": (
            "Intervals do not use the bootstrap; remove this argument. `vendiscore FILE --ci` adds "
            "95 % intervals."
        ),
        "noci nointerval": "Intervals are added only with --ci; remove this argument.",
        "lang language locale": ("Kernels do not depend on the language; remove this argument."),
        "precision dtype float32 float16 half fp16 bf16 amp": (
            "Scores are computed in double precision; remove this argument."
        ),
        "color colour nocolor pretty human humanreadable indent open browser": (
            "The output is plain text, and HTML with -f html; remove this argument."
        ),
        "tsv txt xlsx excel": (
            "-f csv prints a table with commas; --type tsv reads one with tabs. The type of a file "
            "is detected from its name."
        ),
        "recursive recurse": "--subfolders reads the files in subfolders of a folder.",
        "eigenvalues spectrum eigs": (
            "The eigenvalues are not printed. -q 0,1,2,inf prints the score at several orders."
        ),
        "clusters clusterids blocks": (
            "Intervals for clustered samples are computed in Python: "
            "compute(samples, clusters=labels, ci=0.95)."
        ),
        "keep": ("One sample of each group of near-duplicates is kept; remove this argument."),
        "lambda lam tradeoff diversityweight": (
            "`vendiscore select FILE -n 5 --quality COLUMN` selects samples of high quality; "
            "remove this argument."
        ),
        "points npoints numpoints nsteps": (
            "`vendiscore growth FILE --sizes 10,20,50` sets the numbers of samples."
        ),
        "dryrun check validate": (
            "The command changes no files, and prints how it reads FILE; remove this argument."
        ),
        "minlength maxlength minlen maxlen truncate": (
            "Samples are not filtered by length; filter the file first."
        ),
        "offline nonetwork localfilesonly": (
            "Download the model first with `vendiscore model download`; -k static needs no network."
        ),
        "kernels listkernels": "`vendiscore kernels` lists all kernels.",
        "listmeasures": "`vendiscore measures` lists all measures.",
        "title name": "The title is the name of the file; rename the file or edit the result.",
        "config configfile": (
            "There is no configuration file; pass all options as flags, or -o OPTION=VALUE."
        ),
        "cache nocache cachedir": (
            "Only embeddings are cached, in the folder -k text_embeddings:cache=FOLDER."
        ),
        "ci confidence confidencelevel confidenceinterval interval intervals": (
            "Intervals of scores are added by `vendiscore score FILE --ci`."
        ),
        "yes force overwrite append": (
            "Files are overwritten without a question; remove this argument."
        ),
        "plot figure": (
            "`vendiscore table` draws its table with --plot; `vendiscore report` has figures."
        ),
    },
    "command": {
        "download fetch pull": "Use `vendiscore model download`.",
        "list ls show": "Use `vendiscore kernels` or `vendiscore measures`.",
        "version": "Use `vendiscore --version`.",
        "space": "The commands that upload a Space are in docs/tasks/page_api.md.",
        "plot figure draw": "`vendiscore report` and `vendiscore table --plot FILE` draw figures.",
        "install setup init config configure": (
            "No setup is needed; `vendiscore model download` fetches an embedding model."
        ),
        "embed encode": "Embeddings are computed on the fly: `vendiscore FILE -k semantic`.",
        "novelty": "Use `vendiscore FILE --references FILE -m novelty`.",
        "magnitude": "Use `vendiscore FILE -m MagArea`.",
        "selfbleu bleu intdiv distinct": "Use `vendiscore FILE -m MEASURE`.",
        "head tail shuf": (
            "All samples of a file are used. Limit the input, for example "
            "`head -n 100 FILE | vendiscore -`."
        ),
        "cluster clustering": (
            "`vendiscore explain FILE` lists groups of near-duplicates and modes."
        ),
    },
    "kernel": {
        "precomputed matrix gram grammatrix similaritymatrix kernelmatrix": (
            "A similarity matrix is passed with score_K=True instead of `k`."
        ),
        "euclidean sqeuclidean l2 manhattan cityblock l1 distance": (
            "Distances become similarities with k='rbf' (Euclidean) or k='laplacian' (Manhattan). "
            "Distance-based measures use `metric`: metric='euclidean', measures='MagArea'."
        ),
        "embedding embeddings embed": (
            "k='text_embeddings' embeds texts and k='image_embeddings' images. Use k='cosine' for "
            "vectors that are embeddings."
        ),
        "minilm allminilml6v2": (
            "Did you mean k='semantic', or k='sentence-transformers/all-MiniLM-L6-v2'?"
        ),
        "meaning semantics": "Did you mean k='semantic', or k='static' without a network?",
        "dino dinov2": "Did you mean k='facebook/dinov2-base'?",
        "clip": "Did you mean k='openai/clip-vit-base-patch32'?",
        "ecfp6": "Did you mean k='morgan', radius=3?",
        "countfingerprint countfingerprints countmorgan morgancount morgancounts countecfp minmax "
        "hashedmorgan counttanimoto ecfpcounts": (
            "Molecular kernels use binary fingerprints. Compare count fingerprints with a function "
            "of two arrays: k=lambda a, b: np.minimum(a, b).sum() / np.maximum(a, b).sum()."
        ),
        "levenshtein editdistance edit rouge rougel rouge1 rouge2 bertscore meteor chrf ter jaro "
        "jarowinkler damerau stringkernel ssk": (
            "This similarity is not included. Pass it as a function of two samples that is 1 for "
            "equal ones: k=lambda a, b: …."
        ),
        "polynomial poly sigmoid matern periodic rationalquadratic chi2 additivechi2": (
            "This kernel is not included. Pass its similarity matrix, with score_K=True and "
            "ones on the diagonal."
        ),
        "hamming overlap": (
            "For rows of labels, pass the mean of equal entries as a function: "
            "k=lambda a, b: float(np.mean(a == b))."
        ),
    },
    "measure": {
        "fid frechetinceptiondistance fd frechetdistance inceptionscore is": (
            "Fréchet distances and the Inception Score are not included. 'KID' and 'MMD' compare "
            "two sets of embeddings."
        ),
        "ken": "novelty(samples, references) ranks the samples that references lack.",
        "intdiv2 intdivp2": (
            "IntDiv2 of MOSES (p = 2) is 1 - exp(-RKE / 2); for molecules, pass k='morgan' with "
            "measures='RKE' and convert the result."
        ),
        "distinct1 distinct2 distinct3 distinct4 uniquengrams": (
            "distinct-n is the measure 'NgramDiversity' for one length n; for distinct-2, pass "
            "measures='NgramDiversity' with sizes=[2]."
        ),
        "jensenshannon js jsd": (
            "The Jensen-Shannon divergence is the logarithm of 'BetweenVS' of both sets as groups: "
            "compute(samples + references, groups=labels, measures='BetweenVS'), with half of the "
            "weight `p` for each set."
        ),
        "shannon shannonentropy entropy": (
            "'VS' at order 1 is the exponential of the Shannon entropy; for labels, pass "
            "k='labels'."
        ),
        "simpson inversesimpson invsimpson ginisimpson gini": (
            "'VS' at order 2 is the inverse Simpson index, and 'IntDiv' the Gini-Simpson index; "
            "for labels, pass k='labels'."
        ),
        "richness speciesrichness chao1 ace nunique uniqueness unique": (
            "'VS' with k='labels' and q=0 counts distinct labels. growth(samples) extrapolates."
        ),
        "pielou evenness": (
            "Evenness is log VS_q1 / log VS_q0; compute(samples, k='labels', q=[0, 1]) returns "
            "both numbers."
        ),
        "mtld mattr hdd vocd lexicaldiversity": (
            "This measure is not included. 'NgramDiversity' with sizes=[1] is the type-token ratio."
        ),
        "bleu rouge meteor bertscore perplexity mauve chrf": (
            "This is not a diversity measure of this package. 'SelfBLEU' and 'NgramDiversity' "
            "measure repetition in texts."
        ),
        "silhouette silhouettescore daviesbouldin calinskiharabasz": (
            "This measures a clustering, not a set. 'WithinVS' and 'BetweenVS' compare groups."
        ),
    },
    "metric": {
        "jaccard": "k='tanimoto' with metric='1-k' is this distance for rows of 0 and 1.",
        "dice": "k='tanimoto' with coefficient='dice' and metric='1-k' is this distance.",
        "seuclidean": (
            "Scale the columns instead: metric='euclidean' of X / X.std(axis=0, ddof=1)."
        ),
        "mahalanobis": (
            "Transform the rows instead: metric='euclidean' of X @ cholesky(inv(cov(X.T))), with "
            "functions of numpy.linalg."
        ),
        "levenshtein editdistance edit": (
            "Pass the distance as a function of two samples: metric=lambda a, b: …."
        ),
    },
    "objective": {
        "logdet dpp": "'vendi' is similar; DPPy (dppy) and apricot-select maximize log det",
        "maxmin kcenter kcenters kmedoids": (
            "'vendi' is similar; MaxMinPicker of RDKit maximizes the smallest distance"
        ),
    },
    "function": {
        "nearduplicates duplicates findduplicates dedupe dedup deduplicate dropduplicates unique": (
            "explain(samples).groups lists near-duplicates, and explain(samples).kept holds the "
            "indices of the samples without them."
        ),
        "vendi vendiscore vendikernel diversity diversityscore metric loadmetric vendiscoremetric "
        "vendimetric evaluate calculate run getscore measure": (
            "compute(samples) returns the Vendi Score in a dict, score(samples) as a number; "
            "load('vendiscore') is the metric of Hugging Face."
        ),
        "precisionrecall prdc improvedprecisionrecall": (
            "Use compute(samples, references, k='cosine', measures=['Precision', 'Recall'])."
        ),
        "perprompt pergroup groupby": (
            "compute(answers, groups=prompts) scores the answers to each prompt."
        ),
        "bootstrap confidenceinterval ci": (
            "compute(samples, ci=0.95) adds a confidence interval."
        ),
        "plot plotting show": (
            "Results have a method plot: compare(a, b).plot(), growth(samples).plot()."
        ),
        "help": "help(compute) describes the main function, list_kernels() lists all kernels.",
        "kernels": (
            "Kernels are passed by name: compute(samples, k='cosine'). list_kernels() lists all."
        ),
        "metrics measures": (
            "Measures are passed by name: compute(samples, measures='IntDiv'). list_measures() "
            "lists all."
        ),
        "magnitude": (
            "Use mag_area(samples), magnitude_function(samples), or at one scale "
            "compute(samples, measures='Magnitude')."
        ),
        "effectiverank": (
            "The Vendi Score is the effective rank of a similarity matrix: score_K(K), or "
            "score_X(X) for features."
        ),
        "scoretexts scoretext scoreimages scoremolecules textutils imageutils moleculeutils": (
            "compute(samples) accepts all types of samples: k='pixels' is for images and "
            "k='morgan' for molecules."
        ),
        "plots": "Each figure is a function of the module; dir(plots) lists all.",
        "scored scoredistance scoredistances distancematrix pairwisedistances pairwisedistance "
        "pdist cdist vegdist": (
            "A distance matrix D is passed to a distance-based measure: compute(D, "
            "metric='precomputed', measures='MagArea'). For the Vendi Score, convert it to "
            "similarities: score_K(np.exp(-D))."
        ),
        "similaritymatrix pairwisesimilarity kernelmatrix grammatrix gram pairwisekernels "
        "pairwisesimilarities computesimilarity": (
            "as_similarity(samples, k='cosine').dense() is the matrix of pairwise similarities."
        ),
        "version": "Use vendiscore.__version__.",
        "loadcsv readcsv loaddata loaddataset readtable fromcsv loadjsonl loadtexts readfile "
        "fromfile frompandas fromdataframe loadfile": (
            "Read files with another package, for example pandas, and pass a column: "
            "compute(df['text']). The command `vendiscore FILE` reads files."
        ),
        "cluster clusters clustering kmeans modes dbscan": (
            "explain(samples).groups lists groups of near-duplicates, and explain(samples).modes() "
            "the modes of the samples."
        ),
        "setseed seed randomstate manualseed": (
            "Random seeds are passed as keywords: compare(a, b, seed=0)."
        ),
        "setdevice device cuda": (
            "Arrays are scored on their own device. For embeddings, pass "
            "compute(samples, k='text_embeddings', device='cpu')."
        ),
        "fit transform fittransform predict fitpredict": (
            "There are no estimators; use compute(samples) or select(samples, size=5)."
        ),
        "silhouettescore silhouette": (
            "To compare labelled groups, use compute(samples, groups=labels, "
            "measures=['WithinVS', 'BetweenVS'])."
        ),
        "tokenize tokenizer tokenizers ngrams": (
            "Texts are split by the kernel: compute(samples, k='ngram_overlap', ns=[1, 2])."
        ),
    },
    "attribute": {
        "statistic": "The test compares the difference: `pairs` holds one row per pair of sets.",
        "matrix": "as_similarity(samples, k='cosine').dense() is the similarity matrix.",
        "fit transform fittransform fitpredict": (
            "Results are not estimators; their attributes hold values."
        ),
        "extrapolate extrapolation predict forecast": (
            "growth(samples, sizes=[10, 20]).scores holds the scores at these sizes, up to twice "
            "the number of samples."
        ),
        "eigenvalues eigvals eigenvals eigenspectrum spectrum eigh": (
            "spectrum(as_similarity(samples, k='cosine')) returns the eigenvalues."
        ),
        "frommatrix fromarray fromkernel fromsamples fromnumpy fromdistances": (
            "as_similarity(samples, k='cosine') compares samples, and "
            "as_similarity(K, score_K=True) makes a Similarity of a matrix."
        ),
        "reset clear": "Create a new object instead, for example State(k='cosine').",
        "top topk topn nlargest head": (
            "The method to_frame returns a DataFrame, which has nlargest and head."
        ),
        "samples texts selectedsamples": (
            "Results hold indices instead of samples: [samples[i] for i in result.places]."
        ),
        "save tofile tocsv tojson export": "The methods to_frame and to_dict convert results.",
    },
}
# Sentences about a name of one kind that was used as another; {} is the name.
_OTHER_KINDS: dict[NameKind, str] = {
    "measure": "'{0}' is a measure; pass measures='{0}'.",
    "kernel": "'{0}' is a kernel; pass k='{0}'.",
    "metric": "'{0}' is a distance; pass metric='{0}' with a measure such as 'MagArea'.",
    "function": "Use the function vendiscore.{0}.",
}
_RELATED_KINDS: dict[NameKind, tuple[NameKind, ...]] = {
    "function": ("measure", "kernel"),
    "kernel": ("measure",),
    "keyword": ("kernel", "measure", "function"),
    "measure": ("kernel", "function"),
    "metric": ("kernel",),
}

# A model is OWNER/NAME on the Hugging Face Hub or a path. It is taken to be an image model if its
# name contains one of _VISION_MODEL_NAMES.
_VISION_MODEL_NAMES = (
    "dino",
    "clip",
    "vit",
    "resnet",
    "inception",
    "convnext",
    "swin",
    "beit",
    "mae",
)
_HUB_ID = re.compile(r"[^/]*(?:/[^/]+)+")
_CAMEL_CASE_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_WORD_PART = re.compile(r"[A-Za-z0-9]+")
_DOCSTRING_SECTION = re.compile(r"\n(\w[\w ]*)\n-+\n")
_DOCSTRING_ENTRY = re.compile(r"^([\w*, .]+?)(?: : .*)?\n((?:    .*\n?|\n)+)", re.MULTILINE)


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_level(value: object) -> bool:
    return isinstance(value, Real) and 0.5 <= float(value) < 1


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_order(value: object) -> bool:
    # A number of at least 0, "inf" or several orders. In Python, booleans are numbers, too.
    if isinstance(value, bool):
        return False
    if isinstance(value, Real):
        return float(value) >= 0
    return isinstance(value, Sequence) and (not isinstance(value, str) or value == "inf")


def _is_per_sample(value: object) -> bool:
    return hasattr(value, "__iter__") and not isinstance(value, str | bytes)


def _is_text_or_callable(value: object) -> bool:
    return isinstance(value, str | Mapping | list | tuple) or (
        callable(value) and not hasattr(value, "__array__")
    )


# For keywords with synonyms: whether a value can be passed to the keyword, and an example of a call
# that is shown if it cannot. Other keywords accept any value.
_ACCEPTED_VALUES: dict[str, tuple[Callable[[object], bool], str]] = {
    "allow_repeats": (lambda value: isinstance(value, bool), "allow_repeats=False"),
    "by": (_is_per_sample, "by=labels, one label per sample"),
    "ci": (_is_level, "ci=0.95"),
    "clusters": (_is_per_sample, "clusters=labels, one label per sample"),
    "counts": (_is_per_sample, "counts=[3, 1, 2]"),
    "groups": (_is_per_sample, "groups=labels, one label per sample"),
    "k": (_is_text_or_callable, "k='cosine'"),
    "level": (_is_level, "level=0.95"),
    "measures": (_is_text_or_callable, "measures='IntDiv'"),
    "n_bits": (_is_count, "n_bits=2048"),
    "n_scales": (_is_count, "n_scales=10"),
    "method": (lambda value: value in ("auto", "estimate"), "method='estimate'"),
    "names": (_is_per_sample, "names=['A', 'B']"),
    "neighbours": (_is_count, "neighbours=3"),
    "ns": (lambda value: _is_count(value) or _is_per_sample(value), "ns=[1, 2]"),
    "objective": (lambda value: value in ("vendi", "represent"), "objective='represent'"),
    "on_error": (lambda value: value in ("raise", "skip"), "on_error='skip'"),
    "p": (_is_per_sample, "p=weights, one weight per sample"),
    "permutations": (_is_count, "permutations=999"),
    "q": (_is_order, "q=2"),
    "quality": (_is_per_sample, "quality=scores, one score per sample"),
    "references": (_is_per_sample, "references=samples, a second set"),
    "samples": (_is_per_sample, "a list of samples as the first argument"),
    "scales": (_is_per_sample, "scales=[0.5, 1.0, 2.0]"),
    "seed": (_is_count, "seed=0"),
    "sigma": (_is_real, "sigma=1.0"),
    "size": (_is_count, "size=5"),
    "sizes": (_is_per_sample, "sizes=[10, 20, 50]"),
    "threshold": (_is_real, "threshold=0.9"),
    "within": (_is_real, "within=0.05"),
}

_HINTS_BY_WORD = {
    kind: {word: sentence for words, sentence in table.items() for word in words.split()}
    for kind, table in ELSEWHERE.items()
}
_TARGETS_BY_SYNONYM: dict[NameKind, dict[str, list[str]]] = {kind: {} for kind in SYNONYMS}
for _kind, _table in SYNONYMS.items():
    for _target, _words in _table.items():
        for _word in _words.split():
            _TARGETS_BY_SYNONYM[_kind].setdefault(_word, []).append(_target)


def suggest_name(
    name: object,
    candidates: Mapping[str, str] | Iterable[str],
    extra_names: Mapping[str, str] | Iterable[str] = (),
    *,
    kind: NameKind | None = None,
    value: object = NO_VALUE,
    other_scopes: Mapping[str, str] = MappingProxyType({}),
    quote: str = "'",
    fallback: str = "",
) -> str:
    """Return a hint for an unknown name: a suggestion, or the most similar names.

    Parameters
    ----------
    name : object
        The unknown name.
    candidates : dict or iterable of str
        Accepted names, as a dict from names to descriptions if they have any. They are listed if
        they are at most MAX_LISTED_NAMES.
    extra_names : dict or iterable of str, optional
        Further accepted names, which are not listed.
    kind : NameKind, optional
        What is named, such as "kernel" or "keyword", which selects the synonyms to use. By default,
        synonyms are not used.
    value : object, optional
        The value that was passed with the name; keywords that do not accept it are not suggested.
    other_scopes : dict of str to str, optional
        Names that are accepted elsewhere, and where, for example {"sigma": "an option of 'rbf'"}.
    quote : str, default "'"
        Quotation mark around names.
    fallback : str, default ""
        Where to find all names, if there is no suggestion and they are too many to list.
    """
    listed = _with_descriptions(candidates)
    accepted = _with_descriptions(extra_names) | listed
    # The unknown name itself is not suggested, even if `extra_names` contains it.
    if str(name) not in listed:
        accepted.pop(str(name), None)
    hint = suggestion(name, accepted, kind, value, other_scopes, quote)
    has_many_names = len(listed) > MAX_LISTED_NAMES
    if hint and has_many_names:
        return hint
    # Without a suggestion, show the most similar names with their descriptions. Names without
    # descriptions are only listed, unless they are too many.
    if not hint and (has_many_names or any(listed.values())):
        hint = describe_candidates(name, accepted, kind, quote)
    if has_many_names:
        return f"{hint}\n{fallback}".strip()
    available = f"Available: {', '.join(sorted(listed))}." if listed else ""
    return join_hint(hint, available)


def join_hint(hint: str, sentence: str) -> str:
    """Join a hint and a sentence; after a hint of several lines, the sentence is a line."""
    separator = "\n" if "\n" in hint else " "
    return f"{hint}{separator}{sentence}".strip()


def describe_other_scope(name: str, target: str, where: str, quote: str = "") -> str:
    """Return a hint that `target`, which `name` means, is valid elsewhere: `where`."""
    sentence = f"It is {where}."
    if normalize_name(target) == normalize_name(name):
        return sentence
    return f"Did you mean {quote}{target}{quote}? {sentence}"


def suggestion(
    name: object,
    accepted: Mapping[str, str] | Iterable[str],
    kind: NameKind | None = None,
    value: object = NO_VALUE,
    other_scopes: Mapping[str, str] = MappingProxyType({}),
    quote: str = "'",
) -> str:
    """Return a sentence with what was probably meant by the unknown `name`; "" if unclear.

    `accepted` are the valid names, and `other_scopes` maps names that are valid elsewhere to a
    description of where. `name` can be a synonym, abbreviation or misspelling of one of them, or a
    name of another kind, such as a measure that was passed as a kernel. `kind` selects the synonyms
    of this kind of names. Names that do not accept `value` are not suggested.
    """
    accepted = _with_descriptions(accepted)
    # In this order: synonyms and replacements, misspelled accepted names, names of another kind,
    # and misspelled names that are accepted elsewhere.
    for variant in name_variants(str(name)) if kind else [str(name)]:
        if hint := _suggest_exact(variant, accepted, kind, value, other_scopes, quote):
            return hint
    close = closest_spelling(name, [*accepted, *other_scopes], kind)
    if close in accepted and accepts_value(close, value):
        return _format_targets([close], accepted, value, quote)
    if kind and (hint := _describe_other_kind(name, kind, value)):
        return hint
    if close and close in other_scopes:
        return describe_other_scope(str(name), close, other_scopes[close], quote)
    return ""


def _suggest_exact(
    name: str,
    accepted: Mapping[str, str],
    kind: NameKind | None,
    value: object,
    other_scopes: Mapping[str, str],
    quote: str,
) -> str:
    """Return a suggestion for a name that is not misspelled, or "" if it is unknown.

    The name is known if it is a synonym of an accepted name, occurs in the table ELSEWHERE, which
    says what to use instead, or is one of `other_scopes`, the names that are valid elsewhere.
    """
    if targets := resolve_synonyms(name, accepted, kind):
        return _format_targets(targets, accepted, value, quote)
    if kind and (hint := replacement_hint(name, kind)):
        return hint
    for target in resolve_synonyms(name, other_scopes, kind):
        return describe_other_scope(name, target, other_scopes[target], quote)
    return ""


def name_variants(name: str) -> list[str]:
    """Return a name, and the name without a first or last word that does not change its meaning.

    >>> name_variants("output_path"), name_variants("maxSamples")
    (['output_path', 'output'], ['maxSamples', 'n_Samples'])
    """
    words = _WORD_PART.findall(_CAMEL_CASE_BOUNDARY.sub("_", name))
    variants = [name]
    # Words such as "max" and "num" before a noun become "n", the prefix of this package.
    if len(words) > 1 and words[0].lower() in _COUNT_WORDS:
        variants.append("n_" + "_".join(words[1:]))
        if words[1].lower() in ("count", "num", "number"):
            variants.append(words[1])
    has_first = len(words) > 1 and words[0].lower() in _OPTIONAL_FIRST_WORDS
    has_last = len(words) > 1 and words[-1].lower() in _OPTIONAL_LAST_WORDS
    if has_last:
        variants.append("_".join(words[:-1]))
    if has_first:
        variants.append("_".join(words[1:]))
    if has_first and has_last and len(words) > 2:
        variants.append("_".join(words[1:-1]))
    return variants


def closest_name(
    name: object, candidates: Iterable[str], kind: NameKind | None = None
) -> str | None:
    """Return the candidate that `name` is a synonym, abbreviation or misspelling of, or None.

    `kind` says what is named, such as "kernel", which selects the synonyms. Without it, synonyms
    are not used.
    """
    candidates = list(candidates)
    targets = resolve_synonyms(name, candidates, kind)
    return targets[0] if targets else closest_spelling(name, candidates, kind)


def resolve_synonyms(
    name: object, candidates: Iterable[str], kind: NameKind | None = None
) -> list[str]:
    """Return the candidates that `name` is a synonym of, or equals but for case and punctuation.

    `kind` says what is named, such as "kernel", which selects the synonyms. Without it, synonyms
    are not used.
    """
    word = normalize_name(str(name))
    by_word = {normalize_name(candidate): candidate for candidate in sorted(candidates)}
    if word in by_word:
        return [by_word[word]]
    targets = _TARGETS_BY_SYNONYM[kind].get(word, []) if kind else []
    words = map(normalize_name, targets)
    return [by_word[target] for target in words if target in by_word]


def closest_spelling(
    name: object, candidates: Iterable[str], kind: NameKind | None = None
) -> str | None:
    """Return the candidate that `name` abbreviates or misspells, or whose synonym it misspells.

    An abbreviation consists of the first words of exactly one candidate. `kind` says what is named,
    such as "kernel", which selects the synonyms. Without it, synonyms are not used.
    """
    word, candidates = normalize_name(str(name)), sorted(candidates)
    # Shorter names abbreviate too many candidates.
    abbreviated = [
        candidate
        for candidate in candidates
        if len(word) >= MIN_PREFIX_LENGTH and word in _initial_words(candidate)
    ]
    if len(abbreviated) == 1:
        return abbreviated[0]
    by_word = {normalize_name(candidate): candidate for candidate in candidates}
    # A misspelled synonym counts as a misspelling of its first target.
    for synonym in _TARGETS_BY_SYNONYM[kind] if kind else ():
        if len(synonym) >= MIN_PREFIX_LENGTH:
            for target in resolve_synonyms(synonym, candidates, kind)[:1]:
                by_word.setdefault(synonym, target)
    similar = [other for other in by_word if _is_misspelling(word, other)]
    close = difflib.get_close_matches(word, similar, n=1, cutoff=0.0)
    return by_word[close[0]] if close else None


def replacement_hint(name: object, kind: NameKind) -> str:
    """Return the sentence about `name` from the table ELSEWHERE, or "".

    The sentence says what to use instead of a name of another library or another function.
    """
    return _HINTS_BY_WORD.get(kind, {}).get(normalize_name(str(name)), "")


def describe_candidates(
    name: object,
    accepted: Mapping[str, str],
    kind: NameKind | None = None,
    quote: str = "'",
) -> str:
    """List the accepted names that are most similar to `name`, one per line; "" if none is."""
    word = normalize_name(str(name))
    words = _split_words(str(name))
    if len(word) < 2 or not accepted:
        return ""
    synonyms = SYNONYMS.get(kind, {}) if kind else {}

    words_of_all = [
        _split_words(candidate) | _split_words(text) for candidate, text in accepted.items()
    ]
    # Words that occur in many candidates say little about which one is meant.
    words = {
        each for each in words if sum(each in others for others in words_of_all) <= MAX_CANDIDATES
    }

    def similarity(candidate: str) -> float:
        # The ratio of equal characters (at most 1) plus the fraction of words that are shared.
        spellings = [normalize_name(candidate), *synonyms.get(candidate, "").split()]
        spelling = max(difflib.SequenceMatcher(None, word, each).ratio() for each in spellings)
        own_words = _split_words(candidate)
        described = _split_words(accepted[candidate])
        # A shared word in the name counts 1, one only in the description ½.
        shared = len(words & own_words) + 0.5 * len(words & (described - own_words))
        return spelling + shared / len(words or word)  # at least 0.5 more for a shared word

    scores = {candidate: similarity(candidate) for candidate in accepted}
    ranked = sorted(accepted, key=lambda candidate: (-scores[candidate], candidate))
    listed: list[str] = []
    for candidate in ranked:
        # Names with the same description are aliases, of which only the best is listed.
        is_repeated = any(accepted[candidate] == accepted[other] != "" for other in listed)
        if scores[candidate] >= MIN_LISTED_SIMILARITY and not is_repeated:
            listed.append(candidate)
    if not listed:
        return ""
    lines = _format_lines(listed[:MAX_CANDIDATES], accepted, quote)
    return "\n".join(["The most similar names are", *lines])


def describe_parameters(function: Callable[..., object]) -> dict[str, str]:
    """Return the parameters of a function as a dict from their names to descriptions.

    A description is the first sentence in the numpydoc docstring; "" if there is none. Variadic
    parameters, such as `**options`, are omitted.

    >>> describe_parameters(suggest_name)["name"]
    'The unknown name.'
    """
    documented = describe_entries(inspect.getdoc(function) or "", "Parameters")
    return {
        parameter.name: documented.get(parameter.name, "")
        for parameter in inspect.signature(function).parameters.values()
        if not parameter.kind.description.startswith("variadic")
        and not parameter.name.startswith("_")
    }


def describe_entries(docstring: str, *titles: str) -> dict[str, str]:
    """Return the names in sections of a numpydoc docstring, each with its first sentence.

    Names are, for example, those of parameters. `titles` are words in the titles of the sections,
    such as "Parameters".
    """
    entries = {}
    # After the text before the first section, titles and texts of sections alternate.
    _, *sections = _DOCSTRING_SECTION.split(f"\n{docstring}\n")
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        if not any(each in title for each in titles):
            continue
        for names, description in _DOCSTRING_ENTRY.findall(text):
            for name in names.split(","):
                entries[name.strip(" *")] = first_sentence(description)
    return entries


def first_sentence(text: str) -> str:
    """Return the first sentence of a text in one line, shortened to MAX_DESCRIPTION_LENGTH."""
    text = " ".join(text.split())
    sentence, stop, _ = text.partition(". ")
    return textwrap.shorten(f"{sentence}{stop.strip()}", MAX_DESCRIPTION_LENGTH, placeholder=" …")


def model_modality(name: str) -> Literal["text", "image"] | None:
    """Guess from a Hub id or path whether a model embeds text or images; None for other names."""
    if not _HUB_ID.fullmatch(name.replace("\\", "/").rstrip("/")):
        return None
    return "image" if any(word in name.lower() for word in _VISION_MODEL_NAMES) else "text"


def normalize_name(name: str) -> str:
    """Return a name in lower case, with letters and digits only."""
    return "".join(filter(str.isalnum, name.lower()))


def accepts_value(keyword: str, value: object) -> bool:
    """Return False if a value cannot be valid for a keyword, and True otherwise."""
    if value is NO_VALUE or value is None or keyword not in _ACCEPTED_VALUES:
        return True
    return _ACCEPTED_VALUES[keyword][0](value)


def _format_targets(
    targets: Sequence[str], accepted: Mapping[str, str], value: object, quote: str
) -> str:
    """Return "Did you mean …?" with those of the names `targets` that accept `value`.

    Several names are listed with their descriptions from `accepted`. If no name accepts the value,
    all are shown with an example of a valid value.
    """
    fitting = [target for target in targets if accepts_value(target, value)]
    names = [f"{quote}{target}{quote}" for target in (fitting or targets)[:MAX_CANDIDATES]]
    # No target accepts the value: show an example of a valid value for each.
    if not fitting:
        examples = [_ACCEPTED_VALUES[target][1] for target in targets[:MAX_CANDIDATES]]
        names = [f"{name} ({example})" for name, example in zip(names, examples, strict=True)]
    elif len(fitting) > 1:
        lines = _format_lines(fitting[:MAX_CANDIDATES], accepted, quote)
        return "\n".join(["Did you mean one of these?", *lines])
    return f"Did you mean {' or '.join(names)}?"


def _format_lines(names: Iterable[str], descriptions: Mapping[str, str], quote: str) -> list[str]:
    return [
        f"  {quote}{name}{quote}{f': {text}' if (text := descriptions[name]) else ''}"
        for name in names
    ]


def _describe_other_kind(name: object, kind: NameKind, value: object) -> str:
    """Return a sentence if `name` is a name of another kind than `kind`; "" otherwise.

    For example, it is a measure that was passed as a kernel. The keyword `cosine=True` also
    requests a kernel, but `labels=["a", "b"]` does not, because its value is not a boolean.
    """
    if value is not NO_VALUE and not isinstance(value, bool):
        return ""
    for other in _RELATED_KINDS.get(kind, ()):
        for variant in name_variants(str(name)):
            if targets := resolve_synonyms(variant, SYNONYMS[other], other):
                return _OTHER_KINDS[other].format(targets[0])
            if hint := replacement_hint(variant, other):
                return hint
    return ""


def _with_descriptions(names: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    return dict(names) if isinstance(names, Mapping) else dict.fromkeys(names, "")


def _is_misspelling(word: str, other: str) -> bool:
    """Return whether two normalized names differ in one letter, or in less than one of five."""
    # One replaced letter, except the first, in a word of at least three letters.
    replaced = len(word) == len(other) > 2 and word[0] == other[0]
    if replaced and sum(a != b for a, b in zip(word, other, strict=True)) == 1:
        return True
    ratio = difflib.SequenceMatcher(None, word, other).ratio()
    return abs(len(word) - len(other)) <= 1 and ratio >= MIN_SPELLING_SIMILARITY


def _initial_words(name: str) -> set[str]:
    """Return the first word of a name, its first two words, and so on, without the whole name.

    Each is in lower case, with letters and digits only.
    """
    words = _WORD.findall(_CAMEL_CASE_BOUNDARY.sub("_", name))
    return {normalize_name("".join(words[:n])) for n in range(1, len(words))}


def _split_words(text: str) -> set[str]:
    """Return the words of a name or a description in lower case, without a plural s."""
    words = _WORD.findall(_CAMEL_CASE_BOUNDARY.sub(" ", text).lower())
    return {word.removesuffix("s") for word in words if len(word) > 2}


class NonCallableModule(ModuleType):
    """A module with a name that users may try to call; a call raises an error with a hint."""

    def __call__(self, *args: object, **options: object) -> NoReturn:
        name = self.__name__.rpartition(".")[2]
        raise TypeError(f"module `{name}` cannot be called. {replacement_hint(name, 'function')}")

    def __getattr__(self, name: str) -> NoReturn:
        message = f"module {self.__name__!r} has no attribute {name!r}"
        # Python and other tools look up many private names, such as `__path__`.
        if not name.startswith("_") and (public := vars(self).get("__all__")):
            descriptions = {each: first_sentence(vars(self)[each].__doc__ or "") for each in public}
            message += f". {suggest_name(name, descriptions, quote='`')}"
        raise AttributeError(message)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return importlib.import_module, (self.__name__,)


def make_non_callable(module: str) -> None:
    """Make calls of a module raise an error with a hint, which is in the table ELSEWHERE.

    Users may try to call a module such as `vendiscore.magnitude`, whose name could be a function.
    """
    sys.modules[module].__class__ = NonCallableModule
