import { format } from '../format/format';

// What is printed carries its day and its link, so that whoever holds the paper can ask again (behind.css).
addEventListener('beforeprint', () => {
    document.body.dataset.printed = `${format.date(new Date())} · ${location.href}`;
});
