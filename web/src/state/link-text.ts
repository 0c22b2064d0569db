// A link of the page as a text: its query, or null where the text is none.
export const queryOf = (text: string): string | null =>
    /^(https?:\/\/\S*)?\?\S+=\S*$/.test(text.trim())
        ? text
              .trim()
              .replace(/^[^?]*/, '')
              .replace(/#.*$/, '')
        : null;

// What every link of the page says, and other pages' do not.
export const isOurs = (query: string): boolean => /[?&](v|model|gpus?)=/.test(query);
