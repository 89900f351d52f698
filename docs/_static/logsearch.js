// Search for a line of a log. Sphinx wants every word on a page; a line also holds names and values that no page has. A short
// query is left as it is; of a longer one a page needs a good part, where rare words count more than common ones, and words
// on a short page more than on a long one.
(() => {
  const shortQuery = 3; // words
  const neededShare = 0.4; // of the weight of all words that some page has
  const lengthPenalty = 0.15; // exponent of the number of different words on a page
  const mostResults = 30;
  const strictSearch = Search.performTermsSearch;
  let lengths; // of each page, by its number: different words

  const pagesWith = (word) => {
    const pages = new Set();
    for (const words of [Search._index.terms, Search._index.titleterms])
      if (Object.hasOwn(words, word)) [words[word]].flat().forEach((page) => pages.add(page));
    return pages;
  };

  const measurePages = () => {
    lengths = new Array(Search._index.docnames.length).fill(1);
    for (const pages of Object.values(Search._index.terms)) [pages].flat().forEach((page) => lengths[page]++);
  };

  Search.performTermsSearch = (words, excluded) => {
    if (words.size <= shortQuery) return strictSearch(words, excluded);
    if (!lengths) measurePages();
    const index = Search._index;
    const weights = new Map(); // of each page, by its number
    let whole = 0;
    for (const word of words) {
      const pages = pagesWith(word);
      const weight = pages.size ? Math.log(1 + index.docnames.length / pages.size) : 0;
      whole += weight;
      pages.forEach((page) => weights.set(page, (weights.get(page) ?? 0) + weight));
    }
    return [...weights]
      .filter(([, weight]) => weight >= neededShare * whole)
      .map(([page, weight]) => [page, (Scorer.title * weight) / whole / lengths[page] ** lengthPenalty])
      .sort(([, one], [, other]) => other - one)
      .slice(0, mostResults)
      .map(([page, score]) => [
        index.docnames[page],
        index.titles[page],
        "",
        null,
        score,
        index.filenames[page],
        SearchResultKind.text,
      ]);
  };
})();
