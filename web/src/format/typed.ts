// What a reader typed, as a number; what is none stays the text it is.
export interface Typed {
    parse(text: string): number | string; // "8,192" -> 8192; what is no whole number stays the text it is
    parseAmount(text: string): number | string; // "1,000,000,000,000", "1e12", "2.5" -> the number; "" -> 0
    parseDecimal(text: string): number | string; // "0,5" -> 0.5
    parsePercent(text: string): number | string; // "50", "50 %" -> 0.5
}

function parseDecimal(text: string): number | string {
    // No such field reaches a thousand: the one separator that there may be is the decimals'.
    const bare = text.trim().replace(',', '.');
    return /^-?(\d{1,9}(\.\d{0,9})?|\.\d{1,9})$/.test(bare) ? Number(bare) : text.trim();
}

export const typed: Typed = {
    parseDecimal,
    parsePercent(text) {
        const percent = parseDecimal(text.replace(/\s*%\s*$/, ''));
        return typeof percent === 'number' ? percent / 100 : percent;
    },
    parseAmount(text) {
        const bare = text.trim();
        if (bare === '') return 0;
        // Groups of three with one and the same separator are thousands; a single other comma or point is the decimals'.
        const digits = /^\d{1,3}([,.'’_\s])\d{3}(?:\1\d{3})*$/u.test(bare) ? bare.replace(/\D/g, '') : bare.replace(',', '.');
        return /^\d{1,17}(\.\d{0,9})?(e\d{1,2})?$/i.test(digits) ? Number(digits) : bare;
    },
    parse(text) {
        const bare = text.trim();
        // Any one separator is taken for the thousands' one where the digits stand in its groups (three, or India's two and three):
        // every size here is a whole number, so that "8.192" can mean nothing else.
        const grouped = /^\d{1,3}([,.'’_\s])(?:\d{2,3}\1)*\d{3}$/u.test(bare);
        const digits = grouped ? bare.replace(/\D/g, '') : bare;
        return /^\d{1,15}$/.test(digits) ? Number(digits) : bare;
    },
};
