// Shares with one decimal, which stays where it is nothing: a column of them lines up.
import { format } from './format';
import { spaced } from './numbers';

export const percentTenth = (share: number): string => spaced(format.fixed(share * 100, 1), '%'); // 1.5 %
