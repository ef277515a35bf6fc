"""Tables of names that users of other libraries may try, for the module `suggestions`.

SYNONYMS maps each accepted name to its synonyms. ELSEWHERE contains names without an accepted
counterpart, each group of them with a sentence that says what to use instead. Both are converted to
dicts in which a single unknown name can be looked up: TARGETS_BY_SYNONYM maps each synonym to its
accepted names, and HINTS_BY_WORD maps each name of ELSEWHERE to its sentence.
"""

from typing import Literal

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
        "sizes": "trainsizes samplesizes subsamplesizes steps knots nvalues n ngram ngrams "
        "ngramsize ngramsizes",
        "ns": "n ngram maxngram maxn ngrams ngramrange ngramsize ngramsizes ngramorder",
        "seed": "randomstate randomseed rng generator setseed",
        "samples": "texts text sentences generations images molecules smiles inputs input x data "
        "prediction predictions preds hypotheses candidates outputs completions responses corpus "
        "documents docs points answers",
        "batch": "samples sample data x inputs input texts text predictions features images",
        "references": "reference refs ref targets target real realsamples referencesamples y",
        "groups": "group groupby grouplabels grouping strata labels stratify y",
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
        "IntDiv": "internaldiversity intdivk intdiv1 intdivp meandissimilarity pairwisedistance "
        "meanpairwisedistance",
        "AvgSim": "averagesimilarity meansimilarity pairwisesimilarity meanpairwisesimilarity",
        "NgramDiversity": "typetokenratio ttr",
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
        "select_batches": "greedi distributedselection selectstream streamselect",
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
            "All samples of a file are used. To use fewer, pass a shorter file; for texts, for "
            "example `head -n 100 FILE | vendiscore -`."
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
            "All samples of a file are used. To use fewer, pass a shorter file; for texts, for "
            "example `head -n 100 FILE | vendiscore -`."
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
        "rao raoq raos raosq quadraticentropy raoquadraticentropy raosquadraticentropy "
        "quadraticdiversity": (
            "Rao's quadratic entropy, the mean of D_ij p_i p_j, is D.max() * "
            "compute(1 - D / D.max(), score_K=True, measures='IntDiv', p=p)['IntDiv'] for "
            "distances D and weights p, which can be omitted. For similarities K, it is 'IntDiv'."
        ),
        "ken": "novelty(samples, references) ranks the samples that references lack.",
        "intdiv2 intdivp2": (
            "IntDiv2 of MOSES (p = 2) is 1 - exp(-RKE / 2); for molecules, pass k='morgan' with "
            "measures='RKE' and convert the result."
        ),
        "distinct distinctn distinctngrams distinct1 distinct2 distinct3 distinct4 uniquengrams": (
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
        "betadiversity beta": (
            "Use compute(counts=df, measures='BetweenVS') for a table of counts (one row per "
            "site), or compute(samples, groups=sites, measures='BetweenVS')."
        ),
        "alphadiversity alpha": (
            "Use compute(counts=df) for a table of counts (one row per site), or "
            "compute(samples, groups=sites). 'WithinVS' is the alpha diversity of Jost (2007)."
        ),
        "gammadiversity gamma": (
            "Use compute(counts=df, measures='TotalVS') for a table of counts (one row per "
            "site), or compute(samples, groups=sites, measures='TotalVS')."
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
            "Use vendiscore.read, which reads files and data frames: "
            "compute(**read('answers.csv').arguments). The command `vendiscore FILE` scores files."
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

HINTS_BY_WORD = {
    kind: {word: sentence for words, sentence in table.items() for word in words.split()}
    for kind, table in ELSEWHERE.items()
}
TARGETS_BY_SYNONYM: dict[NameKind, dict[str, list[str]]] = {kind: {} for kind in SYNONYMS}
for _kind, _table in SYNONYMS.items():
    for _target, _words in _table.items():
        for _word in _words.split():
            TARGETS_BY_SYNONYM[_kind].setdefault(_word, []).append(_target)
