// How amounts, numbers of people and texts are written on a page.

const money = (amount) =>
	Number(amount).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const people = (count) => (count === 1 ? '1 person' : `${count.toLocaleString('en-US')} people`);
const html = (value) =>
	String(value ?? '')
		.replace(/&/g, '&amp;')
		.replace(/</g, '&lt;')
		.replace(/>/g, '&gt;')
		.replace(/"/g, '&quot;');
