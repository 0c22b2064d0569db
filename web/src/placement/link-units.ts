// The units in which a measurement of links may be written, as read_links() takes them; "auto": as the file says.
export const LINK_UNITS = [
    'auto',
    'gbyte_per_s',
    'gbit_per_s',
    'mbyte_per_s',
    'mbit_per_s',
    'byte_per_s',
    'gibyte_per_s',
    'mibyte_per_s',
] as const;
