// Completion of what evkg knows: its prefixes, and the classes and properties of its ontology. Nothing is asked of
// other servers; Yasqe's own completers ask prefix.cc and Linked Open Vocabularies, so they are not used.

const MOST = 100;

/** The part of a word that is to be completed, as an IRI where its prefix is known: in the query, or without being declared. */
export function expand(word, prefixes) {
  const text = word.trim();
  if (text.startsWith("<")) return text.slice(1).replace(/>$/, "");
  const colon = text.indexOf(":");
  const iri = colon < 0 ? undefined : prefixes[text.slice(0, colon)];
  return iri === undefined ? text : iri + text.slice(colon + 1);
}

/** An IRI as a query writes it: with a prefix where one fits and nothing is left that a name may not hold. */
export function shorten(iri, prefixes) {
  for (const [prefix, start] of Object.entries(prefixes)) {
    const rest = iri.slice(start.length);
    if (iri.startsWith(start) && /^[\w-]+$/.test(rest)) return `${prefix}:${rest}`;
  }
  return `<${iri}>`;
}

/** The terms that a word may become: those that begin with it, then those whose name or label holds it. */
export function matching(terms, word, prefixes) {
  const iri = expand(word, prefixes);
  const first = terms.filter((term) => term.iri.startsWith(iri));
  const typed = word.trim().replace(/^<|>$/g, "");
  const loose = typed.slice(typed.indexOf(":") + 1).toLowerCase();
  const rest = terms.filter((term) => {
    const own = term.iri.split(/[#/]/).pop().toLowerCase();
    return !first.includes(term) && loose !== "" && (own.includes(loose) || term.label.toLowerCase().includes(loose));
  });
  return [...first, ...rest].slice(0, MOST);
}

function known(yasqe, prefixes) {
  return { ...prefixes, ...yasqe.getPrefixesFromQuery() };
}

function completer(name, terms, prefixes, isValid) {
  const about = new Map(terms.map((term) => [term.iri, term]));
  return {
    name,
    bulk: false,
    autoShow: false,
    isValidCompletionPosition: isValid,
    get: (yasqe, token) => matching(terms, token ? token.string : "", known(yasqe, prefixes)).map((term) => term.iri),
    postprocessHints: (yasqe, hints) =>
      hints.map((hint) => {
        const term = about.get(hint.text);
        const text = shorten(hint.text, known(yasqe, prefixes));
        return { ...hint, text, displayText: term ? `${text}  ${term.label}` : text };
      }),
  };
}

/** Yasqe's settings for completion, from what `/sparql/terms` says. */
export function completers({ prefixes, classes, properties }) {
  const isClass = (yasqe) => {
    const token = yasqe.getCompleteToken();
    if (/^[?$]/.test(token.string)) return false;
    const before = yasqe.getPreviousNonWsToken(yasqe.getDoc().getCursor().line, token);
    return ["a", "rdf:type"].includes(before.state.lastProperty);
  };
  const isProperty = (yasqe) => {
    const token = yasqe.getCompleteToken();
    return !/^[?$]/.test(token.string) && token.state.possibleCurrent.indexOf("a") >= 0;
  };
  const declarations = Object.entries(prefixes).map(([prefix, iri]) => `${prefix}: <${iri}>`);
  return [
    completer("evkg-class", classes, prefixes, isClass),
    completer("evkg-property", properties, prefixes, isProperty),
    {
      name: "evkg-prefix",
      bulk: false,
      autoShow: true,
      isValidCompletionPosition: (yasqe) => {
        const { line, ch } = yasqe.getDoc().getCursor();
        return /^\s*prefix\s+[\w-]*$/i.test(yasqe.getDoc().getLine(line).slice(0, ch));
      },
      get: (yasqe, token) => declarations.filter((text) => text.startsWith(token ? token.string.trim() : "")),
    },
  ];
}
