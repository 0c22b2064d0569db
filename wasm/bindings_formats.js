// The functions of the second module, as bindings_formats.cpp exports them.
answersText('import_plan', 'export_plan', 'read_run', 'read_links');
