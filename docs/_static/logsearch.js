// Search for a line of a log. Sphinx wants every word on a page; a line also holds names and values that no page has. A short
// query is left as it is; of a longer one a page needs the greater part, where a rare word counts more than a common one.
(() => {
  const shortQuery = 3; // words
  const neededShare = 0.6; // of the weight of all words that some page has
  const strictSearch = Search.performTermsSearch;

  const pagesWith = (word) => {
    const index = Search._index;
    const pages = new Set();
    for (const words of [index.terms, index.titleterms])
      if (Object.hasOwn(words, word)) [words[word]].flat().forEach((page) => pages.add(page));
    return pages;
  };

  Search.performTermsSearch = (words, excluded) => {
    if (words.size <= shortQuery) return strictSearch(words, excluded);
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
      .map(([page, weight]) => [
        index.docnames[page],
        index.titles[page],
        "",
        null,
        (Scorer.title * weight) / whole,
        index.filenames[page],
        SearchResultKind.text,
      ]);
  };
})();
