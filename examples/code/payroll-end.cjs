return rows.map((json) => ({ json }));
