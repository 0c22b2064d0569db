// A line on stderr that the next one takes the place of.
const TO_START = '\r\u001b[K';

export const erased = (text = ''): string => TO_START + text;
