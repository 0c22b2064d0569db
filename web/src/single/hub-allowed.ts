// Takes the place of answer/hub-allowed.ts: a page that opens from a disk asks nobody.
export const HUB_ALLOWED: boolean = false;
